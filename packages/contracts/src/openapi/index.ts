export type { Api } from './api.ts';
export { APPROVAL_AGENT } from './apis/approval-agent.ts';
export { GATEWAY } from './apis/gateway.ts';
export { type OpenApiDocument, openApiDocument } from './document.ts';
export type { Answer, Parameter, Route } from './route.ts';
