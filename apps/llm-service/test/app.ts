import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog } from '@plangate/service';
import type { Agent } from '../src/agent.ts';
import { createApp } from '../src/routes.ts';

export interface RunningApp {
  url: string;
  post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown>; text: string }>;
  stop(): Promise<void>;
}

/** The service on a free port of loopback, around the given agent. */
export async function startApp(
  agent: Agent,
  checks: Record<string, () => Promise<unknown>> = {},
): Promise<RunningApp> {
  const server = createServer(createApp({ agent, log: createLog('test', 'silent'), checks }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async post(path, body) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text), text };
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A request for a first plan. */
export const FIRST_PLAN = {
  query: 'How do locks expire?',
  context: {},
  conversation: [],
  current_plan: '',
  current_round: 0,
  max_rounds: 10,
};
