import { isBodyOf, isRefusal, seenBy } from './answers.ts';
import { wrongAtRest } from './at-rest.ts';
import { canonical } from './canonical.ts';
import type { History, ModelCall, Recorded } from './recording.ts';
import { basesOf, versionsWhere } from './states.ts';
import type { Truth } from './truth.ts';

/** A moment of an operation: it took effect as this version, or saw one of these states. */
interface Part {
  operation: Recorded;
  what: string;
  /** Not before and not after, in milliseconds. */
  from: number;
  to: number;
  /** The version that it made. */
  writes?: number;
  /**
   * The versions at which what was seen is right, of those from `least` on.
   * @param least the oldest state that can be seen at `from`
   */
  sees?: (least: number) => number[];
}

/**
 * Whether all that clients saw is explained by the order of a history: each result is right at a place in that
 * order, and the places keep to real time: what ended before something else began comes before it. As the order of
 * the changes is known, putting each part at its earliest place decides it; no search is needed.
 */
export function explain(history: History, truth: Truth): string[] {
  const parted = history.operations.map((operation) => partsOf(operation, history, truth));
  const parts = parted.flatMap(({ parts }) => parts).sort((a, b) => a.from - b.from);
  return [...parted.flatMap(({ problems }) => problems), ...misplaced(parts), ...wrongAtRest(history, truth)];
}

/** The parts that have no place. */
function misplaced(parts: Part[]): string[] {
  const problems: string[] = [];
  const placed: { part: Part; at: number }[] = [];
  for (const part of parts) {
    const before = placed.filter((other) => other.part.to < part.from);
    const least = before.reduce((most, { at }) => Math.max(most, at), 0);
    const { writes } = part;
    if (writes !== undefined) {
      const late = before.find(({ part: other, at }) =>
        other.writes === undefined ? at >= writes : at > writes,
      );
      if (late)
        problems.push(
          `${nameOf(part)} made version ${writes} after ${nameOf(late.part)} had seen ${late.at}`,
        );
      placed.push({ part, at: writes });
      continue;
    }
    const at = part.sees?.(least).find((version) => version >= least);
    if (at === undefined) problems.push(`${nameOf(part)} has no place from version ${least} on`);
    else placed.push({ part, at });
  }
  return problems;
}

function nameOf({ operation, what }: Part): string {
  const { id, kind, status, ifMatch, body } = operation;
  const tag = ifMatch === undefined ? '' : ` If-Match ${ifMatch}`;
  return `${id} ${kind}${tag} -> ${status} ${body?.code ?? body?.status ?? ''} (${what})`;
}

interface Parted {
  parts: Part[];
  problems: string[];
}

/** The moments of an operation. One of which nothing is known may have happened or not. */
function partsOf(operation: Recorded, history: History, truth: Truth): Parted {
  const { began, status, ended } = operation;
  const made = truth.madeBy.get(operation.id);
  const call = operation.kind === 'feedback' ? history.calls.get(operation.message ?? '') : undefined;
  const isKnown = ended !== null && status !== 503;
  const whole = { operation, from: began, to: ended ?? Infinity };
  const begin: Part[] = call ? [beginOf(operation, call, history, truth)] : [];
  const after = call ? { ...whole, from: call.answered } : whole;
  if (made !== undefined) {
    const write: Part = { ...after, what: `makes version ${made}`, writes: made };
    const wrong = isKnown ? refuteMade(operation, made, truth) : null;
    if (wrong === 'withdrawn') {
      const sees = () =>
        versionsWhere(truth.states, (state, at) => at > made && isRefusal(operation, state, history));
      return { parts: [write, { ...whole, what: 'withdrawn', sees }], problems: [] };
    }
    const problems =
      wrong === null ? [] : [`${operation.id} ${operation.kind} made version ${made}: ${wrong}`];
    return { parts: [...begin, write], problems };
  }
  if (!isKnown) return { parts: begin, problems: [] };
  if (call) {
    const { parts, problems } = afterModel(operation, call, history, truth, after);
    return { parts: [...begin, ...parts], problems };
  }
  const sees = (least: number) => seenBy(operation, history, truth.states, least);
  return { parts: [{ ...whole, what: 'sees', sees }], problems: [] };
}

/** The first half of a feedback: it reads the state that the model is shown. */
function beginOf(operation: Recorded, call: ModelCall, history: History, { states }: Truth): Part {
  const sees = () => basesOf(operation, call, history, states);
  return { operation, what: 'begin', from: operation.began, to: call.received, sees };
}

/** Why an answer does not fit the version that its operation made; `withdrawn`: an approval that was taken back. */
function refuteMade(operation: Recorded, made: number, truth: Truth): string | null {
  const { kind, status, body, version } = operation;
  const state = truth.states[made];
  if (!state) return 'there is no such state';
  if (kind === 'approve' && status === 409 && body.error === 'Review is closed: cancelled')
    return 'withdrawn';
  if (kind === 'create' || kind === 'close') {
    return version === made && body.status === state.status ? null : canonical(body);
  }
  if (kind === 'cancel') return status === 202 ? null : `answered ${status}`;
  if (status !== 200) return `answered ${status} ${canonical(body)}`;
  if (version !== made) return `has the ETag of ${version}`;
  return isBodyOf(operation, state) ? null : `answered ${canonical(body)}`;
}

/** What a feedback that asked the model and changed nothing was told. */
function afterModel(
  operation: Recorded,
  call: ModelCall,
  history: History,
  { states }: Truth,
  whole: Pick<Part, 'operation' | 'from' | 'to'>,
): Parted {
  const { status, body } = operation;
  if (status === 502) {
    const problems = call.answer === null ? [] : [`${operation.id}: 502, although the model answered`];
    return { parts: [], problems };
  }
  const content = basesOf(operation, call, history, states).map((at) => states[at]?.content_version);
  const sees = () =>
    versionsWhere(states, (state) => {
      if (!state || status !== 409 || body.version !== state.version) return false;
      if (state.status !== 'reviewing') return isRefusal(operation, state, history);
      const overtaken = content.some((basis) => basis !== undefined && basis < state.content_version);
      return overtaken && body.code === 'version_conflict';
    });
  return { parts: [{ ...whole, what: 'commit refused', sees }], problems: [] };
}
