export { BUILT_IN_TOOLS, type EmailSettings, type HttpToolSettings } from './approval-agent-settings.ts';
export { type ChosenProvider, chosenProvider, OFFLINE } from './chosen-provider.ts';
export {
  createLlmClient,
  type LlmClient,
  LlmServiceError,
  requireLlmService,
  type TraceHeaders,
} from './llm-client.ts';
export { createLog, type Logger } from './log.ts';
export { type NamedServers, namedServers } from './named-servers.ts';
export { configFile, PROJECT_FOLDER } from './paths.ts';
export { runService } from './run.ts';
export {
  isProcess,
  type RunningProduct,
  recordRunning,
  runningProduct,
  startFolder,
} from './running-product.ts';
export { ENVIRONMENT, loadSettings, type ProviderSettings, Settings } from './settings.ts';
export { loadStrategies } from './strategies.ts';
export { type EnvironmentVariable, readYamlSettings, SettingsError } from './yaml-settings.ts';
