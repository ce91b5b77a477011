import { createHttpServer, listen, stoppable } from '@plangate/http';
import { openCorpus } from '@plangate/research/corpus';
import {
  chosenProvider,
  configFile,
  loadSettings,
  OFFLINE,
  PROJECT_FOLDER,
  runService,
  type Settings,
  SettingsError,
} from '@plangate/service';
import { buildAgent } from './build-agent.ts';
import { selectModel } from './models/select.ts';
import { offlineAgent } from './offline/agent.ts';
import { createApp } from './routes.ts';

await runService('llm-service', async (log) => {
  // The SDK writes its warnings to the console otherwise, which is no structured log.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { models, documents, llm_service } = loadSettings(process.env, configFile('plangate.yaml'));
  checkProvider(models);
  const corpus = openCorpus({
    root: PROJECT_FOLDER,
    folders: documents.folders,
    log: ({ type, ...event }) => {
      if (type === 'empty') log.warn(event, 'a folder of documents is empty or missing');
      else log[type === 'skipped' ? 'warn' : 'info'](event, `documents: ${type}`);
    },
  });
  const agent = buildAgent({ models, environment: process.env, offline: offlineAgent(() => corpus) });
  const checks = {
    provider: async () => selectModel(models, process.env, {}),
    documents: () => corpus,
  };

  const server = createHttpServer(createApp({ agent, log, checks }));
  const { stop } = stoppable(server);
  const url = await listen(server, llm_service);
  const { name: provider, missingKey } = chosenProvider(models, process.env);
  log.info({ url, provider, missing_key: missingKey }, 'listening');
  return stop;
});

/** A misspelt provider stops the start; a missing key does not: requests then say so. */
function checkProvider({ provider, providers }: Settings['models']): void {
  const known = ['auto', OFFLINE, ...Object.keys(providers)];
  if (known.includes(provider)) return;
  throw new SettingsError(`models.provider: unknown provider '${provider}' (known: ${known.join(', ')})`);
}
