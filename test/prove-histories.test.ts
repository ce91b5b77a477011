import type { ReviewStore } from '@plangate/review/redis';
import { type FeedbackLock, type Loaded, sha256 } from '@plangate/review/use-cases';
import { describe, expect, it } from 'vitest';
import { chainEntry } from '../packages/review/src/audit.ts';
import type { Mutation } from '../prove/histories/bench.ts';
import { reportHistories } from '../prove/histories/report.ts';
import { proveHistories } from '../prove/histories/run.ts';
import { GATEWAYS, scriptOf } from '../prove/histories/script.ts';
import { SlowStore } from '../prove/histories/slow-store.ts';

const HISTORIES_MS = 12_000;
const FAULT_MS = 40_000;
/** Long enough for the faults that are not about telling a decision. */
const FAULT_DELIVER_MS = 10_000;

/** Faults that a review must not have, each as a wrapper around a part of the gateway, and how it is found. */
const FAULTS: { name: string; problem: RegExp; mutation: Mutation; script?: typeof scriptOf }[] = [
  {
    name: 'a store that does not compare the version',
    problem: /the rules refuse it|the last state/,
    mutation: (parts, redis) => ({ ...parts, reviews: new LastWriterWins(redis) }),
  },
  {
    name: 'a store that forgets which commands it has applied',
    problem: /took effect twice|made version \d+: answered 409/,
    mutation: (parts, redis) => ({ ...parts, reviews: new ForgetsCommands(redis) }),
  },
  {
    name: 'a feedback that does not look again once it has the lock',
    problem: /asked the model without what .* had done before/,
    mutation(parts, redis) {
      const reviews = new LooksOnce(redis);
      const lock: typeof parts.lock = async (id) => {
        const first = reviews.seen.get(id);
        const attempt = await parts.lock(id);
        if (attempt.held && first) reviews.instead.set(id, first);
        return attempt;
      };
      return { ...parts, reviews, lock };
    },
  },
  {
    name: 'a feedback that does not see that its plan was edited meanwhile',
    problem: /feedback by .*the rules refuse it: Conflict/,
    mutation: (parts, redis) => ({ ...parts, reviews: new SameContent(redis) }),
  },
  {
    name: 'a lock that everybody gets',
    problem: /at the same time|asked the model without|approved while/,
    mutation: (parts) => ({ ...parts, lock: async () => ({ held: true, release: async () => undefined }) }),
  },
  {
    name: 'an If-Match that is ignored',
    problem: /the rules refuse it: Conflict|has no place/,
    mutation: (parts) => ({
      ...parts,
      authenticator(req, ...rest) {
        delete req.headers['if-match'];
        return parts.authenticator(req, ...rest);
      },
    }),
  },
  {
    name: 'an event that is lost now and then',
    problem: /the events/,
    mutation: (parts, redis) => ({ ...parts, reviews: new LosesEvents(redis) }),
  },
  {
    name: 'a lock that each gateway has for itself',
    problem: /at the same time|asked the model without|approved while/,
    mutation: (parts) => ({ ...parts, lock: lockOfOneProcess() }),
  },
  {
    name: 'a commit that is sent anew as another command when its reply was lost',
    problem: /took effect twice|made version \d+: (answered 409|has the ETag of)/,
    mutation: (parts, redis) => ({ ...parts, reviews: new SendsAnew(redis) }),
    script: (seed) => {
      const gateway = (seed >> 3) % GATEWAYS;
      const breaks = seed % 4 === 0 ? [{ at: 20, gateway, silentMs: 20 }] : [];
      return { ...scriptOf(seed), breaks };
    },
  },
  {
    name: 'a decision that counts as told although no signal was sent',
    problem: /the decision .* is not delivered|approved, although the run is over/,
    mutation: (parts) => ({ ...parts, deliver: async () => 'sent' }),
  },
];

describe('random histories of many clients on one review', () => {
  it('are linearizable: every answer, event, plan and audit entry has its place in one order', {
    timeout: 60_000,
  }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const result = await proveHistories({ seed, histories: 10_000, milliseconds: HISTORIES_MS });
    if (result.failure) expect.fail(reportHistories(result));
    expect(result.histories).toBeGreaterThan(50);
    // Histories that meet nothing prove nothing.
    const met = [...result.answers.keys()];
    for (const kind of ['approve', 'edit', 'extend', 'feedback']) {
      expect(met).toEqual(
        expect.arrayContaining([`${kind} 200`, `${kind} 409 version_conflict`, `${kind} cut`]),
      );
    }
    expect(met).toEqual(
      expect.arrayContaining([
        'reject 200',
        'feedback 409 feedback_in_flight',
        'feedback 502 planner_failed',
      ]),
    );
  });
});

describe('the check finds', () => {
  it.each(FAULTS)('$name', { timeout: 90_000 }, async ({ mutation, problem, script }) => {
    const result = await proveHistories({
      seed: 7,
      histories: 10_000,
      milliseconds: FAULT_MS,
      tries: 0,
      deliverMs: FAULT_DELIVER_MS,
      mutation,
      ...(script ? { script } : {}),
    });
    expect(result.failure?.problems.join('\n')).toMatch(problem);
  });
});

/** Writes over whatever stands there, with a version and an audit entry that fit. */
class LastWriterWins extends SlowStore {
  override async commit(...[id, step]: Parameters<ReviewStore['commit']>) {
    const now = await this.load(id);
    const expectedVersion = now.state?.version ?? 0;
    if (expectedVersion === step.expectedVersion) return super.commit(id, step);
    const version = expectedVersion + 1;
    const transition = { ...step.transition, state: { ...step.transition.state, version } };
    const { n: _n, prev: _prev, hash: _hash, ...facts } = step.audit;
    const audit = chainEntry(now.audit, { ...facts, version }, sha256);
    return super.commit(id, { ...step, expectedVersion, transition, audit });
  }
}

/** Loses the reply of the first attempt and does not know the command again. */
class ForgetsCommands extends SlowStore {
  readonly #tried = new Set<string>();
  #n = 0;

  override async commit(...[id, step]: Parameters<ReviewStore['commit']>) {
    const { commandId } = step;
    this.#n += 1;
    const result = await super.commit(id, { ...step, commandId: `${commandId} ${this.#n}` });
    if (result.result !== 'committed' || this.#tried.has(commandId)) return result;
    this.#tried.add(commandId);
    return { result: 'moved' as const, version: result.version };
  }
}

/** Shows once what was seen before the lock was taken. */
class LooksOnce extends SlowStore {
  readonly seen = new Map<string, Loaded>();
  readonly instead = new Map<string, Loaded>();

  override async load(...[id]: Parameters<ReviewStore['load']>) {
    const old = this.instead.get(id);
    if (old && this.instead.delete(id)) return old;
    const loaded = await super.load(id);
    this.seen.set(id, loaded);
    return loaded;
  }
}

/** Says of every state that its content is the first one. */
class SameContent extends SlowStore {
  override async load(...[id]: Parameters<ReviewStore['load']>) {
    const loaded = await super.load(id);
    return loaded.state ? { ...loaded, state: { ...loaded.state, content_version: 1 } } : loaded;
  }
}

/** Takes a lost reply for a commit that did not happen. */
class SendsAnew extends SlowStore {
  override async commit(...[id, step]: Parameters<ReviewStore['commit']>) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await super.commit(id, { ...step, commandId: `${step.commandId} ${attempt}` });
      } catch (error) {
        if (attempt > 10) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

/** A mutex that other processes do not see. */
function lockOfOneProcess(): FeedbackLock {
  const held = new Set<string>();
  return async (id) => {
    if (held.has(id)) return { held: false };
    held.add(id);
    return { held: true, release: async () => void held.delete(id) };
  };
}

class LosesEvents extends SlowStore {
  #n = 0;

  override commit(...[id, step]: Parameters<ReviewStore['commit']>) {
    this.#n += 1;
    const events = this.#n % 50 === 0 ? [] : step.transition.events;
    return super.commit(id, { ...step, transition: { ...step.transition, events } });
  }
}
