import type { JsonObject } from '@plangate/contracts';
import type { HttpToolSettings } from '@plangate/service';
import { guardedRequest } from './guarded-request.ts';
import type { AgentTool } from './tool.ts';

/** Longest answer in bytes that is read at all; what the model gets to see of it is bounded elsewhere. */
const ANSWER_LIMIT_BYTES = 1024 * 1024;

interface HttpToolOptions {
  /** Hosts that may have a private address. */
  privateHosts: readonly string[];
  /** Sent as `Authorization: Bearer`. */
  bearer?: string;
}

/**
 * A tool behind HTTP: the arguments are the query of a GET or DELETE and the JSON body of anything else; the result is
 * the text of a 2xx. The call's id goes along as `Idempotency-Key`.
 */
export function httpTool(settings: HttpToolSettings, { privateHosts, bearer }: HttpToolOptions): AgentTool {
  const { name, description, parameters, method, approval, timeout_seconds } = settings;
  const inQuery = method === 'GET' || method === 'DELETE';
  return {
    name,
    description,
    parameters,
    approval,
    async run(args, { id, signal }) {
      const { status, text } = await guardedRequest({
        url: inQuery ? withQuery(settings.url, args) : new URL(settings.url),
        method,
        headers: {
          Accept: 'application/json, text/*;q=0.9, */*;q=0.1',
          'User-Agent': 'Plangate',
          'Idempotency-Key': id,
          ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
        },
        ...(inQuery ? {} : { body: JSON.stringify(args) }),
        privateHosts,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout_seconds * 1_000)]),
        limitBytes: ANSWER_LIMIT_BYTES,
      });
      if (status < 200 || status > 299) throw new Error(`answered ${status}`);
      return text;
    },
  };
}

function withQuery(url: string, args: JsonObject): URL {
  const target = new URL(url);
  for (const [name, value] of Object.entries(args)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      target.searchParams.append(name, typeof item === 'string' ? item : JSON.stringify(item));
    }
  }
  return target;
}
