export { ResearchWorkflow } from './research.ts';
export { TaskWorkflow } from './task.ts';
