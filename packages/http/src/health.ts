import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HealthBody } from '@plangate/contracts';
import { sendJson } from './send-json.ts';

/** Longest time in milliseconds that one check may take. */
const CHECK_LIMIT_MS = 1_500;

/** Asks a part whether it answers; rejects or stays silent where it does not. */
export type HealthCheck = () => Promise<unknown>;
export type HealthHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface HealthOptions {
  version: string;
  now?: () => Date;
}

/** `GET /health`: the process runs (`contract/plan-review.md` §1). `name` is the part that answers for itself. */
export function health(name: string, { version, now = () => new Date() }: HealthOptions): HealthHandler {
  return async (_req, res) => {
    send(res, 200, { status: 'healthy', version, time: now().toISOString(), checks: { [name]: 'ok' } });
  };
}

/** `GET /readiness`: 200 when every part answers in time, else 503; all are asked at once. */
export function readiness(
  checks: Record<string, HealthCheck>,
  { version, now = () => new Date(), limitMs = CHECK_LIMIT_MS }: HealthOptions & { limitMs?: number },
): HealthHandler {
  return async (_req, res) => {
    const states = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await stateOf(check, limitMs)] as const),
    );
    const ready = states.every(([, state]) => state === 'ok');
    send(res, ready ? 200 : 503, {
      status: ready ? 'ready' : 'not ready',
      version,
      time: now().toISOString(),
      checks: Object.fromEntries(states),
    });
  };
}

/** A word, not the reason: the route is open to everybody. */
async function stateOf(check: HealthCheck, limitMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, limitMs, 'timed out');
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      () => 'ok',
      () => 'unavailable',
    );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function send(res: ServerResponse, status: number, body: HealthBody): void {
  sendJson(res, status, body, {
    'Cache-Control': 'no-store',
    ...(status === 503 ? { 'Retry-After': '2' } : {}),
  });
}
