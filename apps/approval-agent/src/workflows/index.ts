export { ThreadWorkflow } from './thread-workflow.ts';
