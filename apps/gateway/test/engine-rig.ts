import type { WorkflowId } from '@plangate/contracts';
import { Client, Connection } from '@temporalio/client';
import { until } from './rig.ts';

export interface SeenSignal {
  name: string;
  payload: unknown;
}

/** What tests look up at Temporal by themselves; no worker runs, so a started workflow waits for ever. */
export interface TemporalEyes {
  client: Client;
  signals(id: WorkflowId): Promise<SeenSignal[]>;
  started(id: WorkflowId): Promise<{ type: string; taskQueue: string; input: unknown } | null>;
  /** Starts a run of this id on a queue that nobody serves. */
  start(id: WorkflowId): Promise<void>;
  close(): Promise<void>;
}

export async function watchTemporal(address: string): Promise<TemporalEyes> {
  let connection: Connection | undefined;
  await until(async () => {
    connection = await Connection.connect({ address, connectTimeout: 2_000 }).catch(() => undefined);
    return connection !== undefined;
  }, 50_000);
  const client = new Client({ connection: connection! });
  const { payloadConverter } = client.workflow.options.loadedDataConverter;
  const history = async (id: WorkflowId) => (await client.workflow.getHandle(id).fetchHistory()).events ?? [];
  return {
    client,
    async signals(id) {
      return (await history(id)).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
        const [payload] = signal?.input?.payloads ?? [];
        return signal?.signalName
          ? [{ name: signal.signalName, payload: payload && payloadConverter.fromPayload(payload) }]
          : [];
      });
    },
    async started(id) {
      const start = (await history(id).catch(() => []))[0]?.workflowExecutionStartedEventAttributes;
      const [payload] = start?.input?.payloads ?? [];
      return start && payload
        ? {
            type: start.workflowType?.name ?? '',
            taskQueue: start.taskQueue?.name ?? '',
            input: payloadConverter.fromPayload(payload),
          }
        : null;
    },
    async start(id) {
      await client.workflow.start('ResearchWorkflow', { workflowId: id, taskQueue: 'nobody', args: [] });
    },
    close: () => connection!.close(),
  };
}
