import { type Owner, type Refusal, refuse } from '@plangate/contracts';
import { reviewNotFound } from './machine.ts';
import type { ReviewState } from './state.ts';

/**
 * Whether `caller` may touch a review of `owner` (contract/plan-review.md §0): another user is 403, another tenant
 * too, and a review whose owner is unknown belongs to nobody.
 * @param authOff authentication is off: then an unknown owner is everybody's
 */
export function refuseAccess(owner: Owner | null, caller: Owner, authOff: boolean): Refusal | null {
  if (!owner?.user || !owner.tenant) {
    return authOff ? null : refuse(403, 'forbidden_owner', 'Forbidden: not the task owner');
  }
  if (owner.user !== caller.user) return refuse(403, 'forbidden_owner', 'Forbidden: not the task owner');
  if (owner.tenant !== caller.tenant) {
    return refuse(403, 'forbidden_tenant', 'Forbidden: not authorized for this tenant');
  }
  return null;
}

/** 404, then 403: what stands before every rule of the review itself. */
export function guardFor(caller: {
  owner: Owner;
  authOff: boolean;
}): (state: ReviewState | null) => Refusal | null {
  return (state) => (state ? refuseAccess(state.owner, caller.owner, caller.authOff) : reviewNotFound());
}
