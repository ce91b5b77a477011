import type { JsonObject } from '@plangate/contracts';

/** The one call for which a tool runs. */
export interface CallContext {
  /** Id of the call, unique among all threads: what a call leaves behind is named after it. */
  id: string;
  /** Aborted where nobody waits for the result any more. */
  signal: AbortSignal;
}

/** Something that the agent can do. `run` gets arguments that fit the schema, and throws where it could not do it. */
export interface AgentTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  /** Whether a person has to approve each call. */
  approval: 'required' | 'never';
  run(args: JsonObject, call: CallContext): Promise<string>;
}
