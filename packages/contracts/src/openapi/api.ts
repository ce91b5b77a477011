import type { z } from 'zod';
import type { Route } from './route.ts';
import type { NamedSchemas } from './schemas.ts';

/** Errors that mean the same on every route that has them, and their status. */
export const SHARED_STATUS = {
  Unauthorized: '401',
  BodyTooLarge: '413',
  UnsupportedMediaType: '415',
  IdempotencyRunning: '409',
  IdempotencyMismatch: '422',
  TooManyRequests: '429',
  StoreUnavailable: '503',
  Unexpected: 'default',
} as const;
export type SharedError = keyof typeof SHARED_STATUS;

/** What the document of a service is made of. */
export interface Api {
  title: string;
  /** Markdown. */
  description: string;
  tags: { name: string; description: string }[];
  routes: readonly Route[];
  schemas: NamedSchemas;
  errors: {
    /** The body of every 4xx and 5xx. */
    body: z.ZodType;
    /** What the shared ones mean here. */
    shared: Record<SharedError, string>;
  };
}
