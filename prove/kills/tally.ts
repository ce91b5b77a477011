import { PARTS, type Part } from './killable.ts';
import type { Settled } from './settle.ts';
import { STAGES, type Stage, stageAt } from './stage.ts';
import type { Kill } from './verify-runs.ts';

/** What was done to how many reviews, and how it ended. */
export interface Tally {
  waves: number;
  lives: number;
  kills: Record<Part, number>;
  /** Lives into which at least one kill fell. */
  runs: number;
  /** How often a kill of a part fell into a stage of a life. */
  hits: Record<Part, Record<Stage, number>>;
  /** How the reviews ended, such as `approved`. */
  ends: Map<string, number>;
  /** How many actions were answered with success, refused, answered 503, or not answered at all. */
  answers: { done: number; refused: number; away: number; none: number };
}

export function emptyTally(): Tally {
  const ofStages = () => Object.fromEntries(STAGES.map((stage) => [stage, 0])) as Record<Stage, number>;
  const ofParts = <T>(value: () => T) =>
    Object.fromEntries(PARTS.map((part) => [part, value()])) as Record<Part, T>;
  return {
    waves: 0,
    lives: 0,
    kills: ofParts(() => 0),
    runs: 0,
    hits: ofParts(ofStages),
    ends: new Map(),
    answers: { done: 0, refused: 0, away: 0, none: 0 },
  };
}

/** Adds a wave; returns how many of its lives a kill fell into. */
export function tallyWave(tally: Tally, settled: Settled[], kills: Kill[]): number {
  tally.waves += 1;
  tally.lives += settled.length;
  for (const { part } of kills) tally.kills[part] += 1;
  let hit = 0;
  for (const { life, after } of settled) {
    const end = after?.review.status ?? 'never begun';
    tally.ends.set(end, (tally.ends.get(end) ?? 0) + 1);
    for (const { status } of life.actions) tally.answers[kindOf(status)] += 1;
    if (!after) continue;
    const stages = kills.map(({ part, at }) => ({ part, stage: stageAt(life, after, at) }));
    for (const { part, stage } of stages) if (stage) tally.hits[part][stage] += 1;
    if (stages.some(({ stage }) => stage !== null)) hit += 1;
  }
  tally.runs += hit;
  return hit;
}

function kindOf(status: number): keyof Tally['answers'] {
  if (status === 0) return 'none';
  if (status === 503) return 'away';
  return status < 300 ? 'done' : 'refused';
}
