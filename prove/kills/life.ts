import type { ReviewBody } from '@plangate/contracts';
import type { Answer } from '../../test/support/client.ts';
import { type ModelCall, ready } from '../../test/support/model.ts';
import { type Following, followToEnd } from '../follow.ts';
import type { Killable } from './killable.ts';
import type { Kind, ScriptedAction, ScriptedLife } from './script.ts';

/** All times are in milliseconds since 1970, by the one clock of this machine. */
export interface Span {
  from: number;
  to: number;
}

/** What a person did; `status` 0: no answer came. */
export interface Action extends Span {
  kind: Kind;
  /** The text that it carried. */
  text: string;
  /** What the person saw before; null: nothing, a cancel needs none. */
  seen: ReviewBody | null;
  bound: boolean;
  /** The id that the answer names, which the audit has too; null: no answer came. */
  requestId: string | null;
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  body: any;
}

/** A call of the model for this review's task. */
export interface Call extends Span {
  kind: ModelCall['kind'];
  prompt: string;
}

/** A review on its way through kills. */
export interface Life {
  script: ScriptedLife;
  query: string;
  /** The submission; `status` 0: no answer came. */
  submitted: Span & { status: number };
  /** Null: nobody was told of it. */
  id: string | null;
  actions: Action[];
  calls: Call[];
  following: Following | null;
}

let counter = 0;

export function newLife(script: ScriptedLife): Life {
  counter += 1;
  const query = `Life ${process.pid} ${counter}: what causes tides?`;
  const submitted = { from: 0, to: 0, status: 0 };
  return { script, query, submitted, id: null, actions: [], calls: [], following: null };
}

/** Submits a life that begins early, and waits until its review is open. */
export async function beginEarly(product: Killable, life: Life): Promise<void> {
  if (life.script.submitAt !== null) return;
  await submit(product, life);
  await product.client.ask(`/api/v1/tasks/${life.id}/review`).catch(() => null);
}

/**
 * Submits a life that has not begun, and has all its people act, each in turn, whatever is away.
 * @param beginning the moment that the script's are counted from
 */
export async function live(product: Killable, life: Life, beginning: number): Promise<void> {
  const { script } = life;
  if (script.submitAt !== null) {
    await pauseUntil(beginning + script.submitAt);
    await submit(product, life);
  }
  const { id } = life;
  if (id === null) return;
  await Promise.all(
    script.people.map(async (person, n) => {
      for (const [at, scripted] of person.entries()) {
        await pauseUntil(beginning + scripted.at);
        await act(product.client, life, id, scripted, `${n}.${at}`);
      }
    }),
  );
}

/** Each answer is another plan, so that it can be told which of them ran. */
function answerFor({ model }: Killable, { query, script, calls }: Life): void {
  const { first, feedback, research } = script.delays;
  model.on(query, async ({ kind, prompt }) => {
    const call: Call = { kind, prompt, from: Date.now(), to: Number.POSITIVE_INFINITY };
    calls.push(call);
    const plans = calls.filter((other) => other.kind === 'plan').length;
    await pause(kind !== 'plan' ? research : prompt.includes('Round 0 of') ? first : feedback);
    call.to = Date.now();
    return kind === 'plan'
      ? ready(`Plan ${plans}: explain what causes tides and how they are predicted.`)
      : undefined;
  });
}

async function submit(product: Killable, life: Life): Promise<void> {
  const { query, script, submitted } = life;
  answerFor(product, life);
  const context = {
    require_review: true,
    ...(script.timeoutSeconds === null ? {} : { review_timeout: script.timeoutSeconds }),
  };
  submitted.from = Date.now();
  const answer = await product.client.post('/api/v1/tasks', { query, context }).catch(() => null);
  submitted.to = Date.now();
  submitted.status = answer?.status ?? 0;
  if (answer?.status !== 200) return;
  life.id = String(answer.json.task_id);
  life.following = followToEnd([product.gatewayUrl], life.id);
}

async function act(
  client: Killable['client'],
  life: Life,
  id: string,
  { kind, bound }: ScriptedAction,
  name: string,
): Promise<void> {
  // Only a cancel needs no plan: the others wait for the first one.
  const wait = kind === 'cancel' ? '?wait=0' : '';
  const look = await client.ask(`/api/v1/tasks/${id}/review${wait}`).catch(() => null);
  if (look?.status !== 200 && kind !== 'cancel') return;
  const seen: ReviewBody | null = look?.status === 200 ? look.json : null;
  const text = `${kind} ${name}`;
  const fields: Partial<Record<Kind, Record<string, unknown>>> = {
    feedback: { message: text },
    edit: { plan: `${text}: explain what causes tides.` },
    reject: { reason: text },
    extend: { seconds: 60 },
  };
  const from = Date.now();
  const asked =
    kind === 'cancel'
      ? client.control(id, 'cancel', text)
      : client.act(id, { action: kind, ...fields[kind] }, bound && seen ? `"${seen.version}"` : undefined);
  const answer = await asked.catch(() => null);
  life.actions.push({ kind, text, seen, bound, ...answered(answer), from, to: Date.now() });
}

/** What an action holds of its answer; null: none came. */
export function answered(answer: Answer | null): Pick<Action, 'requestId' | 'status' | 'body'> {
  if (!answer) return { requestId: null, status: 0, body: null };
  return { requestId: answer.headers.get('x-request-id'), status: answer.status, body: answer.json };
}

function pauseUntil(moment: number): Promise<void> {
  return pause(Math.max(0, moment - Date.now()));
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
