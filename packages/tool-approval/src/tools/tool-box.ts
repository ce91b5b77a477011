import type { ToolSchema } from '@plangate/contracts';
import { cleanText } from '@plangate/contracts/text';
import type { CallOrder } from '../next-step.ts';
import { refusalOf } from '../permit.ts';
import { pythonList } from '../python-text.ts';
import type { CallResult } from '../run-call.ts';
import { failedText, invalidArgumentsText, unknownToolText } from '../texts.ts';
import { type ArgumentCheck, argumentCheck, jsonSchemaOf } from './check-arguments.ts';
import type { Tool } from './tool.ts';

export interface ToolBoxOptions {
  tools: readonly Tool[];
  /** Names of the tools whose calls need a person. */
  toolsRequiringApproval: Iterable<string>;
}

/** The tools of an agent, and the one place where they are run. */
export class ToolBox {
  /** What the model is told of them. */
  readonly schemas: readonly ToolSchema[];
  readonly #tools: ReadonlyMap<string, { tool: Tool; check: ArgumentCheck }>;
  readonly #gated: ReadonlySet<string>;

  /** @throws {AgentSettingsError} where a name is doubled or, among the gated ones, unknown */
  constructor({ tools, toolsRequiringApproval }: ToolBoxOptions) {
    requireDistinct(tools);
    this.#tools = new Map(tools.map((tool) => [tool.name, { tool, check: argumentCheck(tool) }]));
    this.#gated = new Set(toolsRequiringApproval);
    requireKnown(this.#gated, this.#tools);
    this.schemas = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: { ...jsonSchemaOf(parameters), type: 'object' },
    }));
  }

  /** True for a tool whose calls wait for a person. */
  isGated(tool: string): boolean {
    return this.#gated.has(tool);
  }

  /**
   * Executes a claimed call, or says why not. Never throws: whatever happens is the call's result. The gate is
   * asked again here, in front of the tool itself.
   * @param onFault told of what the tool threw; the model learns only that it failed
   */
  async execute(order: CallOrder, threadId: string, onFault?: (error: unknown) => void): Promise<CallResult> {
    const { call } = order;
    const known = this.#tools.get(call.name);
    if (!known) return refused(unknownToolText(call.name, [...this.#tools.keys()]));
    const refusal = refusalOf(order, this.isGated(call.name));
    if (refusal !== null) return refused(refusal);
    try {
      const faults = await known.check(call.args);
      if (faults.length > 0) return refused(invalidArgumentsText(call.name, faults));
      // A copy: the tool may change its arguments, the thread's record of them stays.
      const returned: unknown = await known.tool.execute(structuredClone(call.args) as never, {
        threadId,
        callId: call.id,
      });
      return { content: textOf(returned), status: 'success' };
    } catch (error) {
      onFault?.(error);
      return { content: failedText(call.name), status: 'error', threw: true };
    }
  }
}

/** What an agent is built from does not fit together; it is not built. */
export class AgentSettingsError extends Error {
  override readonly name = 'AgentSettingsError';
}

function refused(content: string): CallResult {
  return { content, status: 'error' };
}

function textOf(returned: unknown): string {
  if (returned === undefined) return '';
  return cleanText(typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? ''));
}

function requireDistinct(tools: readonly Tool[]): void {
  const names = tools.map(({ name }) => name);
  const doubled = names.find((name, i) => names.indexOf(name) !== i);
  if (doubled !== undefined) throw new AgentSettingsError(`two tools are named '${doubled}'`);
}

function requireKnown(gated: ReadonlySet<string>, tools: ReadonlyMap<string, unknown>): void {
  const unknown = [...gated].filter((name) => !tools.has(name)).sort();
  if (unknown.length === 0) return;
  throw new AgentSettingsError(`tools_requiring_approval berisi tool tak dikenal: ${pythonList(unknown)}`);
}
