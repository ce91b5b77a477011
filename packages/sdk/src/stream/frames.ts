import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { after } from '../http/timer.ts';

/** One frame of a stream. */
export type Frame = EventSourceMessage;

interface FrameOptions {
  /** Longest silence in milliseconds; the gateway sends at least a comment every ten seconds. */
  silenceMs: number;
  /** Told of a `retry` field, in milliseconds. */
  onRetry: (milliseconds: number) => void;
}

/**
 * The frames of an open stream, as they come: no more is read than is taken, so that a slow reader slows the gateway
 * and not fills the memory. Ends with the stream; leaving it closes the connection.
 * @throws {Error} where the connection breaks or falls silent
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  { silenceMs, onRetry }: FrameOptions,
): AsyncGenerator<Frame, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const frames: Frame[] = [];
  const parser = createParser({ onEvent: (frame) => void frames.push(frame), onRetry });
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* frames.splice(0);
    }
  } finally {
    // Not awaited: a dead connection may take its time.
    reader.cancel().catch(() => undefined);
  }
}

async function within<T>(milliseconds: number, pending: Promise<T>): Promise<T> {
  let end = () => {};
  const silence = new Promise<never>((_, reject) => {
    end = after(milliseconds, () => reject(new Error(`nothing came for ${milliseconds} ms`)));
  });
  try {
    return await Promise.race([pending, silence]);
  } finally {
    end();
  }
}
