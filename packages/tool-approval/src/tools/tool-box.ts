import type { ToolSchema } from '@plangate/contracts';
import { cleanText } from '@plangate/contracts/text';
import type { CallOrder } from '../next-step.ts';
import { refusalOf } from '../permit.ts';
import { pythonList } from '../python-text.ts';
import type { CallResult } from '../run-call.ts';
import { failedText, invalidArgumentsText, unknownToolText, unreadableResultText } from '../texts.ts';
import { type ArgumentCheck, argumentCheck, jsonSchemaOf } from './check-arguments.ts';
import type { Tool } from './tool.ts';

export interface ToolBoxOptions {
  tools: readonly Tool[];
  /** Names of the tools whose calls need a person. */
  toolsRequiringApproval: Iterable<string>;
}

interface BuiltTool {
  tool: Tool;
  check: ArgumentCheck;
  schema: ToolSchema;
}

/** The tools of an agent, and the one place where they are run. */
export class ToolBox {
  /** What the model is told of them. */
  readonly schemas: readonly ToolSchema[];
  readonly #tools: ReadonlyMap<string, BuiltTool>;
  readonly #gated: ReadonlySet<string>;

  /** @throws {AgentSettingsError} where a tool is not whole, a name doubled or, among the gated ones, unknown */
  constructor({ tools, toolsRequiringApproval }: ToolBoxOptions) {
    tools.forEach(requireWhole);
    requireDistinct(tools);
    const built = tools.map((tool) => naming(tool, () => build(tool)));
    this.#tools = new Map(built.map((one) => [one.tool.name, one]));
    this.#gated = new Set(toolsRequiringApproval);
    requireKnown(this.#gated, this.#tools);
    this.schemas = built.map(({ schema }) => schema);
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
    let returned: unknown;
    try {
      const faults = await known.check(call.args);
      if (faults.length > 0) return refused(invalidArgumentsText(call.name, faults));
      // A copy: the tool may change its arguments, the thread's record of them stays.
      const args = structuredClone(call.args) as never;
      returned = await known.tool.execute(args, { threadId, callId: call.id });
    } catch (error) {
      onFault?.(error);
      return { content: failedText(call.name), status: 'error', threw: true };
    }
    try {
      return { content: textOf(returned), status: 'success' };
    } catch (error) {
      // It ran: a model that read that it failed would call it again.
      onFault?.(error);
      return { content: unreadableResultText(call.name), status: 'success' };
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

function build(tool: Tool): BuiltTool {
  const { name, description, parameters } = tool;
  const schema = { name, description, parameters: { ...jsonSchemaOf(parameters), type: 'object' as const } };
  return { tool, check: argumentCheck(tool), schema };
}

/** What callers without types leave out is said here, and not by the first call that a model makes. */
function requireWhole(tool: Partial<Tool> | null | undefined, at: number): void {
  const { name, description, parameters, execute } = tool ?? {};
  if (typeof name !== 'string' || name === '') throw new AgentSettingsError(`tool ${at + 1} has no name`);
  if (typeof description !== 'string') throw new AgentSettingsError(`tool '${name}' has no description`);
  if (typeof parameters !== 'object' || parameters === null) {
    throw new AgentSettingsError(
      `tool '${name}' has no parameters: a JSON Schema of an object, or a zod schema`,
    );
  }
  if (typeof execute !== 'function') throw new AgentSettingsError(`tool '${name}' has no function execute`);
}

/** @throws {AgentSettingsError} with the tool's name, where its schema cannot be used */
function naming<T>({ name }: Tool, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentSettingsError(`the parameters of tool '${name}' cannot be used: ${reason}`, {
      cause: error,
    });
  }
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
