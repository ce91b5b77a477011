import { configFile, loadStrategies, Settings } from '@plangate/service';
import { pino } from 'pino';
import { startGateway } from '../../../apps/gateway/src/start.ts';
import type { Memory } from '../measured-gateway.ts';

// A gateway in a process of its own that says what it holds after a full garbage collection: run with --expose-gc.
const gateway = await startGateway({
  settings: Settings.parse(JSON.parse(process.argv[2] ?? '{}')),
  presets: loadStrategies(configFile('research_strategies.yaml')),
  log: pino({ level: 'silent' }),
  version: '0.0.0',
});
process.on('message', async () => {
  for (let n = 0; n < 3; n += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ held: heapUsed + external, rss } satisfies Memory);
});
process.on('disconnect', () => process.exit());
process.send?.({ url: gateway.url });
