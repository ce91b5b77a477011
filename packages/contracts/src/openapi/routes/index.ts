import type { Route } from '../route.ts';
import { operationRoutes } from './operation.ts';
import { reviewRoutes } from './review.ts';
import { sessionRoutes } from './sessions.ts';
import { streamRoutes } from './streams.ts';
import { taskRoutes } from './tasks.ts';

/** Every route of the gateway. */
export const ROUTES: readonly Route[] = [
  ...taskRoutes,
  ...reviewRoutes,
  ...sessionRoutes,
  ...streamRoutes,
  ...operationRoutes,
];
