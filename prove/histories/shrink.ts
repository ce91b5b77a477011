import type { Script } from './script.ts';

/**
 * The smallest script found that still fails: without clients, then without operations, then without what else
 * happens to the review.
 * @param tries how often each is run before it counts as one that does not fail
 */
export async function shrink<F extends { script: Script; problems: string[] }>(
  failure: F,
  tries: number,
  run: (script: Script) => Promise<F>,
): Promise<F> {
  let best = failure;
  for (let smaller = true; smaller; ) {
    smaller = false;
    for (const script of candidates(best.script)) {
      const found = await failing(script, tries, run);
      if (!found) continue;
      best = found;
      smaller = true;
      break;
    }
  }
  return best;
}

async function failing<F extends { problems: string[] }>(
  script: Script,
  tries: number,
  run: (script: Script) => Promise<F>,
): Promise<F | null> {
  for (let n = 0; n < tries; n += 1) {
    const result = await run(script);
    if (result.problems.length > 0) return result;
  }
  return null;
}

function* candidates(script: Script): Generator<Script> {
  const { clients } = script;
  for (const at of clients.keys()) {
    if (clients.length > 1) yield { ...script, clients: clients.toSpliced(at, 1) };
  }
  for (const [at, client] of clients.entries()) {
    for (const n of client.keys()) {
      if (client.length > 1) yield { ...script, clients: clients.with(at, client.toSpliced(n, 1)) };
    }
  }
  if (script.deadlines.length > 0) yield { ...script, deadlines: [] };
  if (script.lockEnds.length > 0) yield { ...script, lockEnds: [] };
  if (script.breaks.length > 0) yield { ...script, breaks: [] };
  if (script.settlesAfter !== null) yield { ...script, settlesAfter: null };
  if (script.followerBreaks) yield { ...script, followerBreaks: null };
  if (script.openAt !== null) yield { ...script, openAt: null };
}
