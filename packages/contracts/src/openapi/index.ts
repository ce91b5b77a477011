export { type OpenApiDocument, openApiDocument } from './document.ts';
export type { Answer, Parameter, Route } from './route.ts';
export { ROUTES } from './routes/index.ts';
