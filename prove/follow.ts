import { type Frame, readStream } from '../test/support/sse.ts';

/** A reader of an event stream that comes back after every break, strictly after the last id that it has seen. */
export interface Following {
  /** Data of all frames over all connections, `done` left out. */
  events: { seq: number; type?: string }[];
  /** Resolves with the `done` frame. */
  done: Promise<void>;
  /** Breaks the connection off; it comes back. */
  breakOff(): void;
  stop(): void;
}

/** @param gatewayUrls each connection takes the next of them */
export function followToEnd(
  gatewayUrls: string[],
  id: string,
  identity: Record<string, string> = {},
): Following {
  const events: Following['events'] = [];
  let last: string | undefined;
  let stopped = false;
  let ended = false;
  let reader: ReturnType<typeof readStream> | undefined;
  let connections = 0;
  const onFrame = ({ id: at, event, data }: Frame) => {
    last = at ?? last;
    if (event === 'done') ended = true;
    else if (data.startsWith('{')) events.push(JSON.parse(data));
  };
  const done = (async () => {
    while (!stopped && !ended) {
      const headers = { ...identity, ...(last === undefined ? {} : { 'Last-Event-ID': last }) };
      const url = gatewayUrls[connections % gatewayUrls.length] ?? '';
      connections += 1;
      reader = readStream(url, id, { headers, onFrame });
      await reader.ended;
      if (!ended) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    events,
    done,
    breakOff: () => reader?.close(),
    stop() {
      stopped = true;
      reader?.close();
    },
  };
}
