import type { Express } from 'express';

/**
 * The routes of an app, such as `GET /api/v1/tasks/{id}`, as its router has them; what is answered in front of
 * Express is registered there too.
 */
export function routesOf(app: Express): string[] {
  const routes = app.router.stack.flatMap(({ route }) => (route ? [route] : []));
  return routes.flatMap(({ path, stack }) => [
    ...new Set(
      // A layer without a method, or under several paths at once, answers 405 to all others.
      stack.flatMap(({ method }) =>
        method && typeof path === 'string' ? [`${method.toUpperCase()} ${inBraces(path)}`] : [],
      ),
    ),
  ]);
}

function inBraces(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}
