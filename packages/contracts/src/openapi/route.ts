import type { z } from 'zod';
import type { HeaderName } from './headers.ts';

/** Who may ask: `required` is a credential in a header, `query` there or in the query, `open` nobody in particular. */
export type Access = 'required' | 'query' | 'open';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  schema: z.ZodType;
  required?: boolean;
}

export interface Answer {
  description: string;
  /** Left out where there is no body. */
  schema?: z.ZodType;
  /** Default: `application/json`. */
  mediaType?: string;
  headers?: readonly HeaderName[];
}

/** One route of a service, as its document shows it. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Parameters of the path in braces. */
  path: `/${string}`;
  /** `operationId`: the name of the method in generated clients. */
  id: string;
  /** One of the tags of its document. */
  tag: string;
  summary: string;
  /** Markdown. */
  description?: string;
  access: Access;
  /** Requests are not counted, so there is no 429. */
  unlimited?: boolean;
  parameters?: readonly Parameter[];
  body?: { schema: z.ZodType; required: boolean };
  answers: Readonly<Record<number, Answer>>;
  /** What a 4xx or 5xx of this route means; the body is the one of the service's errors. What every route may answer is added. */
  errors?: Readonly<Record<number, string>>;
}
