import { EventLog } from '@plangate/events/redis';
import { connectRedis, keysOf } from '@plangate/redis';
import { localSource } from '@plangate/research/corpus';
import { ReviewStore } from '@plangate/review/redis';
import { configFile, createLlmClient, loadSettings, runService } from '@plangate/service';
import { DraftStore, FindingStore, TaskStore } from '@plangate/tasks/redis';
import { createActivities } from './activities/index.ts';
import { openDocuments } from './documents.ts';
import { startWorker } from './worker.ts';

/** A model call ends in llm-service after its own limit; this one only notices that the service hangs. */
const LLM_MARGIN_SECONDS = 10;

await runService('orchestrator', async (log) => {
  const settings = loadSettings(process.env, configFile('plangate.yaml'));
  const redis = connectRedis(settings.redis.url, {
    name: 'orchestrator',
    onError: (error) => log.warn({ err: error.message }, 'redis connection'),
  });
  const activities = createActivities({
    log,
    reviews: new ReviewStore(redis, {
      onRefusalUnrecorded: (error, workflowId) =>
        log.error({ workflow_id: workflowId, err: error, keys: keysOf(error) }, 'refusal not in the audit'),
    }),
    tasks: new TaskStore(redis),
    drafts: new DraftStore(redis),
    findings: new FindingStore(redis),
    events: new EventLog(redis, { keep: settings.events.keep }),
    llm: createLlmClient(settings.llm_service.url, settings.models.timeout_seconds + LLM_MARGIN_SECONDS),
    source: localSource(await openDocuments(settings, log)),
    keepEventsSeconds: settings.events.keep_seconds,
  });
  const stopWorker = await startWorker(settings, activities, log);
  return async () => {
    await stopWorker();
    redis.disconnect();
  };
});
