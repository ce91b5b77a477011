import {
  type RecordedCall,
  type Step,
  startScriptedProvider,
} from '../../apps/llm-service/test/scripted-provider.ts';

/** What the product wants of the model in one call. */
export interface ModelCall {
  kind: 'plan' | 'decompose' | 'write' | 'answer';
  /** The query of the task that the call is for. */
  query: string;
  instructions: string;
  prompt: string;
}

/** The answer to a call; undefined: the usual one. */
export type Reply = (call: ModelCall) => Step | undefined | Promise<Step | undefined>;

/** A model server on loopback that answers every task, each the way its test says. */
export interface Model {
  url: string;
  /** Sets how the calls for tasks with this query are answered. */
  on(query: string, reply: Reply): void;
  /** The calls for tasks with this query so far. */
  calls(query: string, kind?: ModelCall['kind']): ModelCall[];
  /** Lets go of what was said of these tasks, for suites with very many. */
  forget(queries: ReadonlySet<string>): void;
  stop(): Promise<void>;
}

export type { Step } from '../../apps/llm-service/test/scripted-provider.ts';

export const PLAN = 'Explain what causes tides and how they are predicted.';
export const REVISED = '研究計画をオープンソースに絞って更新しました。潮汐の原因と予測を調べます。';
const QUESTIONS = JSON.stringify({
  questions: [
    { id: 'q1', text: 'What causes tides?', terms: ['gravity', 'Moon', 'bulge'] },
    { id: 'q2', text: 'How are tides predicted?', terms: ['harmonic', 'analysis', 'constituents'] },
  ],
});
export const CLAIM =
  'The gravity of the Moon pulls the water of the oceans towards it and raises a bulge on the near side of the Earth [1].';

export const text = (value: string): Step => ({ do: 'text', text: value });
export const ready = (plan: string): Step => text(`${plan}\n[INTENT:ready]`);
export const asks = (question: string): Step => text(`${question}\n[INTENT:feedback]`);
export const brokenModel: Step = { do: 'json', status: 401, body: { error: { message: 'bad key' } } };

/** Starts a model whose usual answers carry a task to a cited report. */
export async function startModel(): Promise<Model> {
  const provider = await startScriptedProvider();
  const replies = new Map<string, Reply>();
  let calls: ModelCall[] = [];
  provider.script(async (recorded) => {
    const call = readCall(recorded);
    calls.push(call);
    return (await replies.get(call.query)?.(call)) ?? usual(call);
  });
  return {
    url: provider.url,
    on: (query, reply) => void replies.set(query, reply),
    calls: (query, kind) =>
      calls.filter((call) => call.query === query && (kind === undefined || call.kind === kind)),
    forget(queries) {
      for (const query of queries) replies.delete(query);
      calls = calls.filter(({ query }) => !queries.has(query));
      provider.calls.length = 0;
    },
    stop: () => provider.stop(),
  };
}

function usual({ kind, prompt }: ModelCall): Step {
  switch (kind) {
    case 'plan':
      return ready(prompt.includes('Round 0 of') ? PLAN : REVISED);
    case 'decompose':
      return text(QUESTIONS);
    case 'write':
      return text(`## Causes\n\n${CLAIM}`);
    case 'answer':
      return text('Forty-two.');
  }
}

function readCall({ body }: RecordedCall): ModelCall {
  const [instructions = '', prompt = ''] = body.messages.map(({ content }) => textOf(content));
  const query = /^(?:Original query:\n<data [^>]*>|Query:)\n([\s\S]*?)\n(?:<\/data |\nContext:)/.exec(
    prompt,
  )?.[1];
  return { kind: kindOf(instructions), query: query ?? '', instructions, prompt };
}

function kindOf(instructions: string): ModelCall['kind'] {
  if (instructions.startsWith('You plan research')) return 'plan';
  if (instructions.startsWith('You turn an approved')) return 'decompose';
  return instructions.startsWith('You write a research report') ? 'write' : 'answer';
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map((part) => part.text ?? '').join('');
}
