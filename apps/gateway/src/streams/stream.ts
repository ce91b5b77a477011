import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { EventType } from '@plangate/contracts';
import { type Cursor, encodeGap, PING, RETRY } from '@plangate/events';
import type { Delivery, EventHub, SubscriptionHandle } from '@plangate/events/redis';
import { bodyPart } from './body-part.ts';

/** How long the last `retry` of a broken stream may take to leave, in milliseconds. */
const LAST_WORD_MS = 500;

export interface StreamOptions {
  workflowId: Parameters<EventHub['subscribe']>[0];
  after: Cursor;
  wants: (event: { type: EventType }) => boolean;
  hub: EventHub;
  /** What there is cannot be read; the stream is broken off, and its reader comes back. */
  onLost: (error: Error) => void;
  /** The stream has ended, whichever way. */
  onClosed: () => void;
}

/**
 * One open event stream. It writes on the socket, below Node's response: frames are shared between all readers of a
 * workflow, and an idle one costs little. What waits for a slow reader is what the socket buffers (64 KiB) and the
 * frame that went over it: the rest stays in the log until that is gone. A reader that takes nothing from one tick to
 * the next is broken off and resumes by id.
 */
export class EventStream {
  readonly #res: ServerResponse;
  readonly #socket: Socket;
  readonly #options: StreamOptions;
  readonly #subscription: SubscriptionHandle;
  /** Bytes that waited at the last tick; -1 where none did. */
  #stuckAt = -1;
  #closed = false;

  /** @param res its head is sent, nothing of its body was written through it */
  constructor(res: ServerResponse, socket: Socket, options: StreamOptions) {
    this.#res = res;
    this.#socket = socket;
    this.#options = options;
    socket.on('drain', this.#onDrain);
    res.once('close', () => this.#close());
    this.#subscription = options.hub.subscribe(options.workflowId, {
      after: options.after,
      onEvents: (batch) => this.#send(batch),
      onGap: (gap) => void this.#write(encodeGap(gap)),
      onLost: (error) => {
        options.onLost(error);
        this.breakOff();
      },
    });
  }

  /** Called by the one clock of all streams: keeps the connection in use, and finds readers that are stuck. */
  tick(): void {
    const waiting = this.#socket.writableLength;
    if (waiting > 0 && waiting === this.#stuckAt) {
      this.breakOff();
      return;
    }
    this.#stuckAt = waiting > 0 ? waiting : -1;
    if (waiting === 0) this.#write(PING);
  }

  /** Ends the stream before `done`: a reset, because a clean end would be taken for the end of the events. */
  breakOff(): void {
    if (this.#closed) return;
    this.#close();
    const socket = this.#socket;
    const reset = () => socket.resetAndDestroy();
    const timer = setTimeout(reset, LAST_WORD_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.write(bodyPart(this.#res, RETRY), reset);
  }

  /** How many of the batch were taken: none after the one that filled the socket's buffer. */
  #send(batch: readonly Delivery[]): number {
    for (const [at, delivery] of batch.entries()) {
      if (this.#closed || this.#socket.writableNeedDrain) return at;
      if (!this.#options.wants(delivery.event)) continue;
      this.#write(delivery.frame);
      if (delivery.event.type === 'STREAM_END') this.#finish();
    }
    return batch.length;
  }

  #write(text: string): void {
    this.#socket.write(bodyPart(this.#res, text));
  }

  readonly #onDrain = (): void => this.#subscription.resume();

  #finish(): void {
    this.#close();
    this.#res.end();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.off('drain', this.#onDrain);
    this.#subscription?.close();
    this.#options.onClosed();
  }
}
