import { readFileSync } from 'node:fs';
import { configFile, loadSettings, loadStrategies, runService } from '@plangate/service';
import { startGateway } from './start.ts';

await runService('gateway', async (log) => {
  const settings = loadSettings(process.env, configFile('plangate.yaml'));
  const presets = loadStrategies(configFile('research_strategies.yaml'));
  if (settings.gateway.skip_auth) {
    log.warn('AUTHENTICATION IS OFF: everybody who can reach this port can read and approve everything');
  }
  const gateway = await startGateway({ settings, presets, log, version: productVersion() });
  log.info({ url: gateway.url }, 'listening');
  return gateway.stop;
});

function productVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
