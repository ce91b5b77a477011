import type { WorkflowId } from '@plangate/contracts';
import type { Cursor, Gap } from '@plangate/events';
import type { Delivery, EventHub, SubscriptionHandle } from '@plangate/events/redis';

/** A subscriber that remembers what it was told, in order. */
export class Listener {
  readonly deliveries: Delivery[] = [];
  readonly gaps: Gap[] = [];
  readonly lost: Error[] = [];
  readonly handle: SubscriptionHandle;
  /** Answer to each batch: false says stop. */
  more: () => boolean = () => true;

  constructor(hub: EventHub, workflowId: WorkflowId, after: Cursor = { kind: 'start' }) {
    this.handle = hub.subscribe(workflowId, {
      after,
      onEvents: (batch) => {
        this.deliveries.push(...batch);
        return this.more();
      },
      onGap: (gap) => this.gaps.push(gap),
      onLost: (error) => this.lost.push(error),
    });
  }

  get seqs(): number[] {
    return this.deliveries.map(({ event }) => event.seq);
  }

  get latest(): number {
    return this.seqs.at(-1) ?? 0;
  }
}
