import { readFileSync } from 'node:fs';
import { configFile, loadSettings, runService } from '@plangate/service';
import { startApprovalAgent } from './start.ts';

await runService('approval-agent', async (log) => {
  const settings = loadSettings(process.env, configFile('plangate.yaml'));
  if (settings.approval_agent.skip_auth) {
    log.warn('AUTHENTICATION IS OFF: everybody who can reach this port can chat and approve everything');
  }
  const agent = await startApprovalAgent({
    settings,
    environment: process.env,
    log,
    version: productVersion(),
  });
  log.info({ url: agent.url }, 'listening');
  return agent.stop;
});

function productVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
