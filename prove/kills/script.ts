/** What happens in one wave of reviews that a kill comes upon, made from a seed alone. */
import { type Random, randomOf } from '../random.ts';
import { PARTS, type Part } from './killable.ts';

export type Kind = 'feedback' | 'edit' | 'approve' | 'reject' | 'extend' | 'cancel';

/** Moments are milliseconds from the one at which all reviews that begin early are open. */
export interface ScriptedAction {
  at: number;
  kind: Kind;
  /** Sends the version that was seen as If-Match. */
  bound: boolean;
}

/** One review, from its task's submission on. */
export interface ScriptedLife {
  /** Null: at once, so that it is open when the others begin. */
  submitAt: number | null;
  /** Seconds of the review; null: long enough. */
  timeoutSeconds: number | null;
  /** Milliseconds that the model takes for the first plan, for each answer to a feedback, and for each step of research. */
  delays: { first: number; feedback: number; research: number };
  /** People who act on it at the same time, each in turn. */
  people: ScriptedAction[][];
}

/** A part is killed at a moment and started again some time later, in milliseconds. */
export interface ScriptedKill {
  part: Part;
  at: number;
  /** Sooner or later than that: so many milliseconds after the n-th event of this type was told by any of the reviews. */
  upon: { type: string; nth: number; after: number } | null;
  away: number;
}

export interface WaveScript {
  seed: number;
  lives: ScriptedLife[];
  kills: ScriptedKill[];
}

/** Where in its life a review is meant to be when the first kill comes; where it is, the machine decides. */
const AIMS = { plan: 4, talk: 2, model: 5, decision: 6, deadline: 2, research: 6, end: 5 };
const WEIGHTS: Record<Kind, number> = { feedback: 6, edit: 3, approve: 4, reject: 1, extend: 2, cancel: 1 };
const DECISIONS: Partial<Record<Kind, number>> = { approve: 7, reject: 2, cancel: 1 };
/** From the submission to the first plan, the model's time aside. */
const OPENING_MS = 150;
/** Events that a kill may come upon: the machine's load cannot move it away from them. */
const UPON = { none: 6, RESEARCH_PLAN_APPROVED: 1, AGENT_STARTED: 1, LLM_OUTPUT: 2 };

/** @param only the part that is killed; else one or two are drawn */
export function waveScriptOf(seed: number, lives: number, only?: Part): WaveScript {
  const random = randomOf(seed);
  const killAt = random.int(1_000, 2_000);
  const type = random.weighted(UPON);
  const upon = type === 'none' ? null : { type, nth: random.int(1, 5), after: random.int(0, 100) };
  const drawn = random.chance(0.35)
    ? PARTS.toSorted(() => random.next() - 0.5).slice(0, 2)
    : [random.pick(PARTS)];
  const parts = only ? [only] : drawn;
  const kills = parts.map((part, n) => ({
    part,
    at: killAt + (n === 0 ? 0 : random.int(0, 2_500)),
    upon: n === 0 ? upon : null,
    away: random.chance(0.5) ? 0 : random.int(100, 2_000),
  }));
  return { seed, kills, lives: Array.from({ length: lives }, () => lifeOf(random, killAt)) };
}

function lifeOf(random: Random, killAt: number): ScriptedLife {
  const aim = random.weighted(AIMS);
  const action = (at: number, kind: Kind = random.weighted(WEIGHTS)): ScriptedAction => ({
    at: Math.max(0, Math.round(at)),
    kind,
    bound: random.chance(0.75),
  });
  const decision = () => random.weighted(DECISIONS as Record<Kind, number>);
  const around = () =>
    Array.from({ length: random.int(1, 3) }, () => action(killAt + random.int(-800, 1_500))).sort(
      (a, b) => a.at - b.at,
    );
  const others = Array.from({ length: random.int(0, 2) }, around);
  const delays = {
    first: random.pick([0, 50, 200]),
    feedback: random.pick([0, 50, 300, 900]),
    research: random.pick([0, 50, 200]),
  };
  const early = { submitAt: null, timeoutSeconds: random.chance(0.1) ? random.int(2, 6) : null };
  const opening = random.chance(0.5) ? [action(random.int(0, 500), random.pick(['feedback', 'edit']))] : [];
  switch (aim) {
    case 'plan': {
      const first = random.int(100, 800);
      const cancels = random.chance(0.15) ? [[action(killAt + random.int(-200, 200), 'cancel')]] : [];
      return {
        ...early,
        submitAt: Math.max(0, killAt - random.int(0, 900)),
        delays: { ...delays, first },
        people: [[action(killAt + random.int(0, 1_500))], ...cancels, ...others],
      };
    }
    case 'talk':
      return { ...early, delays, people: [[...opening, ...around()], ...others] };
    case 'model': {
      const feedback = random.int(300, 1_200);
      const asked = action(killAt - random.int(0, feedback), 'feedback');
      return {
        ...early,
        delays: { ...delays, feedback },
        people: [[asked, action(killAt + random.int(0, 1_500), decision())], ...others.slice(1)],
      };
    }
    case 'decision':
      return {
        ...early,
        delays,
        people: [[...opening, action(killAt + random.int(-60, 20), decision())], ...others.slice(1)],
      };
    case 'deadline':
      return {
        submitAt: Math.max(0, killAt - 1_000 - delays.first - OPENING_MS + random.int(-200, 200)),
        timeoutSeconds: 1,
        delays,
        people: random.chance(0.5) ? [[action(killAt + random.int(-100, 100))]] : [],
      };
    case 'research': {
      const research = random.int(100, 700);
      return {
        ...early,
        delays: { ...delays, research },
        people: [[...opening, action(killAt - random.int(100, 1_500), 'approve')]],
      };
    }
    case 'end': {
      const kind = decision();
      const before = kind === 'approve' ? random.int(700, 2_000) : random.int(20, 400);
      return {
        ...early,
        delays: { ...delays, research: 0 },
        people: [[...opening, action(killAt - before, kind)]],
      };
    }
  }
}
