import type { IncomingMessage } from 'node:http';
import type { Owner } from '@plangate/contracts';

/** Who a request comes from, as its credential says; never as its body says. */
export interface Principal {
  owner: Owner;
  role: string;
  via: 'api-key' | 'jwt' | 'skip';
}

const principals = new WeakMap<IncomingMessage, Principal>();

/** Keeps the principal of a request for {@link principalOf}. */
export function setPrincipal(req: IncomingMessage, principal: Principal): void {
  principals.set(req, principal);
}

/** The principal of a request that has passed auth; undefined before that, and on open routes. */
export function findPrincipal(req: IncomingMessage): Principal | undefined {
  return principals.get(req);
}

/**
 * The principal of a request.
 * @throws {Error} where the route was mounted without auth: a fault of ours, answered 500
 */
export function principalOf(req: IncomingMessage): Principal {
  const principal = principals.get(req);
  if (!principal) throw new Error('a route that needs a principal was mounted without auth');
  return principal;
}
