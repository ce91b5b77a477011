/** Tools, the check of their arguments, and their one executor: for activities and for the in-process agent. */
export { type ArgumentCheck, argumentCheck, jsonSchemaOf } from './check-arguments.ts';
export { type CallContext, type CheckingSchema, defineTool, type Tool } from './tool.ts';
export { AgentSettingsError, ToolBox, type ToolBoxOptions } from './tool-box.ts';
