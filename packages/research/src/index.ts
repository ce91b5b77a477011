export * from './citations.ts';
export * from './neutral-markup.ts';
export * from './number-passages.ts';
export * from './plan-to-questions.ts';
export * from './report.ts';
export * from './research-question.ts';
export * from './source.ts';
export { contentWords, root, words } from './words.ts';
