/** What happens in a history, made from a seed alone: the races are left to the machine. */
import { randomOf } from '../random.ts';

export type Kind = 'feedback' | 'edit' | 'approve' | 'reject' | 'extend' | 'cancel' | 'read';
/** What is sent as If-Match; `seen` is the version that this client saw last. */
export type Tag = 'none' | 'seen' | 'any' | 'before' | 'zero' | 'list' | 'text';
/** How the model answers: a plan, a question, ready without a new plan, an error, something else, or not at all. */
export type Reply = 'plan' | 'question' | 'keep' | 'fail' | 'nonsense' | 'cut';

export interface ScriptedOperation {
  /** Milliseconds before it is sent. */
  wait: number;
  kind: Kind;
  tag: Tag;
  reply: Reply;
  /** Milliseconds that the model takes. */
  delay: number;
  seconds: number;
  /** The client closes its connection after so many milliseconds. */
  cutAfter: number | null;
  /** Which of the gateways is asked. */
  gateway: number;
}

export interface Script {
  seed: number;
  /** Milliseconds at which the first plan is stored; null: before everything else. */
  openAt: number | null;
  firstReply: 'plan' | 'question';
  maxRounds: number;
  /** What becomes of signals: the engine takes them, is away, or says that the run is over. */
  engine: 'sent' | 'away' | 'over';
  /** Milliseconds at which the workflow's timer fires, and whether it knows of extensions. */
  deadlines: { at: number; knowsExtensions: boolean }[];
  /** Whether the workflow acts upon a decision that it is told of, and so many milliseconds later; null: it does not. */
  settlesAfter: number | null;
  /** Milliseconds at which a gateway's connections to Redis break, after replies were lost for some time. */
  breaks: { at: number; gateway: number; silentMs: number }[];
  /** Milliseconds at which a lock ends as if its time were over. */
  lockEnds: number[];
  /** Milliseconds after which a reader of the event stream goes away and comes back; null: nobody reads. */
  followerBreaks: number[] | null;
  clients: ScriptedOperation[][];
}

/** Gateways side by side over one Redis. */
export const GATEWAYS = 2;
/** A break is felt by all histories that are played at the same time, so few have one of their own. */
const BREAK_CHANCE = 0.01;

/** Whether a decision comes to its end: acted upon by the workflow, or known to be too late for its run. */
export function isTold({ engine, settlesAfter }: Script): boolean {
  return engine === 'over' || (engine === 'sent' && settlesAfter !== null);
}

const TAGS: Record<Tag, number> = { none: 6, seen: 10, any: 1, before: 1, zero: 1, list: 1, text: 0.5 };
const REPLIES: Record<Reply, number> = { plan: 10, question: 4, keep: 1, fail: 1, nonsense: 0.5, cut: 0.5 };

/** How often each operation comes: some histories talk for long, some are decided in a hurry. */
const MOODS: Record<Kind, number>[] = [
  { feedback: 10, edit: 4, approve: 0.5, reject: 0.2, extend: 4, cancel: 0.1, read: 6 },
  { feedback: 6, edit: 4, approve: 4, reject: 1, extend: 3, cancel: 1, read: 4 },
  { feedback: 2, edit: 6, approve: 3, reject: 2, extend: 6, cancel: 2, read: 2 },
  { feedback: 12, edit: 0.3, approve: 2, reject: 0.1, extend: 2, cancel: 0.1, read: 1 },
];

export function scriptOf(seed: number): Script {
  const random = randomOf(seed);
  const mood = random.pick(MOODS);
  const span = random.pick([5, 20, 60]);
  const operation = (): ScriptedOperation => ({
    wait: random.chance(0.4) ? 0 : random.int(0, span),
    kind: random.weighted(mood),
    tag: random.weighted(TAGS),
    reply: random.weighted(REPLIES),
    delay: random.chance(0.3) ? 0 : random.int(1, span),
    seconds: random.chance(0.05) ? 2_592_000 : random.int(1, 3_600),
    cutAfter: random.chance(0.08) ? random.int(0, span) : null,
    gateway: random.int(0, GATEWAYS - 1),
  });
  const times = (most: number, chance: number) =>
    random.chance(chance) ? Array.from({ length: random.int(1, most) }, () => random.int(0, 3 * span)) : [];
  return {
    seed,
    openAt: random.chance(0.15) ? random.int(0, span) : null,
    firstReply: random.weighted({ plan: 4, question: 1 }),
    maxRounds: random.pick([1, 3, 10, 10]),
    engine: random.weighted({ away: 2, sent: 2, over: 1 }),
    deadlines: times(2, 0.3).map((at) => ({ at, knowsExtensions: random.chance(0.5) })),
    settlesAfter: random.chance(0.7) ? random.int(0, span) : null,
    breaks: times(2, BREAK_CHANCE).map((at) => ({
      at,
      gateway: random.int(0, GATEWAYS - 1),
      silentMs: random.int(0, 10),
    })),
    lockEnds: times(3, 0.25),
    followerBreaks: random.chance(0.2) ? times(3, 0.7) : null,
    clients: Array.from({ length: random.int(2, 8) }, () =>
      Array.from({ length: random.int(1, 6) }, operation),
    ),
  };
}
