import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { NewEvent, WorkflowId } from '@plangate/contracts';
import { endTask } from '@plangate/tasks/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../apps/gateway/test/rig.ts';
import { type Random, randomOf, seedOf } from '../prove/random.ts';
import { type Frame, frameReader } from './support/sse.ts';

const RECONNECTS = 1_000;
const READERS = 10;
const SEED = 20_260_101;
/** How far the writer may be ahead of the slowest reader. */
const AHEAD = 60;
const TEXTS = [
  'short',
  '潮汐はどのように起こるか。',
  '👨‍👩‍👧‍👦',
  'data: x\r\n\r\nevent: done',
  'x'.repeat(900),
];

let rigs: Rig[];
beforeAll(async () => {
  const first = await startRig();
  rigs = [first, await startRig({ redis: first.redisServer })];
});
afterAll(async () => {
  for (const rig of rigs.toReversed()) await rig.stop();
});

/** How one connection is opened, and when it is dropped. */
interface Attempt {
  rig: Rig;
  /** Seq strictly after which it has to go on. */
  after: number;
  query: string;
  header: string | null;
  /** Dropped after so many bytes, or milliseconds from the first one, whichever comes first; null: it stays to the end. */
  drop: { bytes: number; ms: number; reset: boolean } | null;
}

/** The frames that came whole over one connection; a frame that was cut does not count. */
function readOnce(id: string, { rig, query, header, drop }: Attempt): Promise<Frame[]> {
  const frames: Frame[] = [];
  const body = frameReader((frame) => frames.push(frame));
  const lines = [
    `GET /api/v1/stream/sse?workflow_id=${id}${query} HTTP/1.1`,
    'Host: 127.0.0.1',
    `X-API-Key: ${rig.keys.alice}`,
    ...(header === null ? [] : [`Last-Event-ID: ${header}`]),
  ];
  let left = drop?.bytes ?? Number.POSITIVE_INFINITY;
  let head = '';
  return new Promise((resolve) => {
    const socket = connect(rig.port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.on('data', (chunk) => {
      let rest = chunk;
      if (!head.includes('\r\n\r\n')) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        rest = end < 0 ? Buffer.alloc(0) : Buffer.from(head.slice(end + 4), 'latin1');
      }
      body.feed(rest.subarray(0, left));
      left -= rest.length;
      if (left <= 0) leave();
    });
    const leave = () => {
      socket.removeAllListeners('data');
      if (drop?.reset) socket.resetAndDestroy();
      else socket.destroy();
    };
    let timer: NodeJS.Timeout | undefined;
    if (drop) socket.once('data', () => (timer = setTimeout(leave, drop.ms)));
    socket.once('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(frames);
    });
  });
}

/** A client that drops its connection again and again and keeps what it has by id. */
class Reader {
  readonly seen = new Map<string, string>();
  latest = 0;
  left: number;
  readonly #random: Random;

  constructor(seed: number, reconnects: number) {
    this.#random = randomOf(seed);
    this.left = reconnects;
  }

  async follow(id: string): Promise<void> {
    let last = false;
    while (!last) {
      last = this.left === 0;
      const attempt = this.#attempt(last);
      const frames = await readOnce(id, attempt);
      this.left -= 1;
      const seqs = frames.map((frame) => Number(frame.id?.split('-')[1]));
      // Nothing is lost and nothing doubled within a connection: it goes on strictly after its resume point.
      expect(seqs).toEqual(seqs.map((_, at) => attempt.after + 1 + at));
      for (const { id: eventId = '', data } of frames) this.seen.set(eventId, data);
      this.latest = Math.max(this.latest, ...seqs);
    }
  }

  /** Resumes where it is, or from up to three events before: then it is told some of them again. */
  #attempt(toTheEnd: boolean): Attempt {
    const random = this.#random;
    const after = Math.max(0, this.latest - (random.chance(0.2) ? random.int(1, 3) : 0));
    const streamId = [...this.seen.keys()][after - 1] ?? '';
    const cursor = random.chance(0.5) ? streamId : String(after);
    const how = after === 0 ? 'none' : random.pick(['header', 'query', 'both'] as const);
    return {
      rig: random.pick(rigs),
      after,
      header: how === 'header' || how === 'both' ? cursor : null,
      query: how === 'query' ? `&last_event_id=${cursor}` : how === 'both' ? '&last_event_id=1' : '',
      drop: toTheEnd
        ? null
        : {
            bytes: random.int(1, random.chance(0.3) ? 20_000 : 1_500),
            ms: random.int(5, 60),
            reset: random.chance(0.5),
          },
    };
  }
}

test(`P45 P50 ${RECONNECTS} reconnects at random bytes while events are appended: nothing lost, nothing doubled`, async () => {
  const [rig] = rigs as [Rig];
  const { task_id: id } = await rig.task();
  const readers = Array.from(
    { length: READERS },
    (_, n) => new Reader(seedOf(SEED, n), RECONNECTS / READERS),
  );
  const random = randomOf(SEED);
  let appended = 0;
  const write = async (workflowId: WorkflowId) => {
    while (readers.some(({ left }) => left > 0)) {
      const slowest = Math.min(...readers.map(({ latest }) => latest));
      if (appended - slowest > AHEAD) {
        await delay(1);
        continue;
      }
      const batch = Array.from({ length: random.int(1, 3) }, (): NewEvent => {
        return { type: 'PROGRESS', agent_id: 'agent', message: random.pick(TEXTS) };
      });
      appended += await rig.events.append(workflowId, batch);
    }
    const parts = { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 };
    await endTask(workflowId, { kind: 'completed', result: 'r' }, parts);
  };
  await Promise.all([write(id), ...readers.map((reader) => reader.follow(id))]);

  const events = await rig.events.read(id, { limit: 100_000 });
  expect(events.length).toBe(appended + 2);
  expect(events.length).toBeGreaterThan(100);
  const ids = events.map(({ stream_id }) => stream_id);
  for (const { seen } of readers) {
    expect([...seen.keys()]).toEqual(ids);
    const texts = [...seen.values()].slice(0, -1).map((data) => JSON.parse(data).message);
    expect(texts).toEqual(events.slice(0, -1).map(({ message }) => message));
  }
}, 180_000);
