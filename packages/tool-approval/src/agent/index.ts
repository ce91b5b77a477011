/** The in-process agent: the core, driven in this process, with the face of a LangGraph graph. */
export type { Checkpoint, Checkpointer, CheckpointSave } from '../checkpoint/checkpointer.ts';
export { MemoryCheckpointer } from '../checkpoint/memory.ts';
export * from '../errors.ts';
export type { ModelCall, ModelReply } from '../receive-reply.ts';
export { AgentSettingsError, defineTool, type Tool } from '../tools/index.ts';
export {
  type AgentOptions,
  buildHumanInTheLoopAgent,
  type HumanInTheLoopAgent,
  type Interrupt,
  type InvokeConfig,
  type InvokeResult,
  type StateSnapshot,
} from './build.ts';
export { Command } from './command.ts';
export { TurnLostError } from './hold.ts';
export type { ChatInput, InputMessage } from './input.ts';
export type { Model, ModelRequest, NodeName, StepUpdate } from './turn.ts';
export { type ChatTurn, ReviewedChatUseCase } from './use-case.ts';
