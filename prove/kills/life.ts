import type { ReviewBody } from '@plangate/contracts';
import { ready } from '../../test/support/model.ts';
import { type Following, followToEnd } from '../follow.ts';
import type { Killable } from './killable.ts';
import type { Kind, ScriptedAction, ScriptedReview } from './script.ts';

/** What a person did; `status` 0: no answer came. */
export interface Action {
  kind: Kind;
  /** The text that it carried. */
  text: string;
  /** What the person saw before. */
  seen: ReviewBody;
  bound: boolean;
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  body: any;
}

/** A review on its way through a kill. */
export interface Life {
  id: string;
  query: string;
  script: ScriptedReview;
  actions: Action[];
  following: Following;
}

let counter = 0;

/** Submits a task and waits for its review: everything before the kill has to work. */
export async function begin({ client, model, gatewayUrl }: Killable, script: ScriptedReview): Promise<Life> {
  counter += 1;
  const query = `Life ${process.pid} ${counter}: what causes tides?`;
  let plans = 0;
  model.on(query, async ({ kind }) => {
    if (kind !== 'plan') return undefined;
    plans += 1;
    const plan = `Plan ${plans}: explain what causes tides and how they are predicted.`;
    if (plans > 1) await pause(script.modelDelay);
    return ready(plan);
  });
  const { timeoutSeconds } = script;
  const id = await client.submit(query, {
    require_review: true,
    ...(timeoutSeconds === null ? {} : { review_timeout: timeoutSeconds }),
  });
  await client.review(id);
  return { id, query, script, actions: [], following: followToEnd(gatewayUrl, id) };
}

/** All people of a review act, each in turn, whatever is away. */
export async function live({ client }: Killable, life: Life): Promise<void> {
  await Promise.all(
    life.script.people.map(async (person, n) => {
      for (const [at, scripted] of person.entries()) {
        await pause(scripted.wait);
        await act(client, life, scripted, `${n}.${at}`);
      }
    }),
  );
}

async function act(
  client: Killable['client'],
  life: Life,
  { kind, bound }: ScriptedAction,
  name: string,
): Promise<void> {
  const look = await client.ask(`/api/v1/tasks/${life.id}/review?wait=0`).catch(() => null);
  if (look?.status !== 200) return;
  const seen = look.json as ReviewBody;
  const text = `${kind} ${name}`;
  const fields: Partial<Record<Kind, Record<string, unknown>>> = {
    feedback: { message: text },
    edit: { plan: `${text}: explain what causes tides.` },
    reject: { reason: text },
    extend: { seconds: 60 },
  };
  const asked =
    kind === 'cancel'
      ? client.control(life.id, 'cancel', text)
      : client.act(life.id, { action: kind, ...fields[kind] }, bound ? `"${seen.version}"` : undefined);
  const answer = await asked.catch(() => null);
  const { status = 0, json: body = null } = answer ?? {};
  life.actions.push({ kind, text, seen, bound, status, body });
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
