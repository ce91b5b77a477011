import type { TestProject } from 'vitest/node';
import { freePort } from './free-port.ts';
import { findTemporal } from './install/temporal.ts';
import { startTemporal, type TemporalServer } from './temporal.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `host:port` of the Temporal server that all suites of a run share: `inject('temporalAddress')`. */
    temporalAddress: string;
  }
}

/**
 * Starts one Temporal server for a whole test run. It comes up in the background while the first files are
 * loaded; clients wait for it when they connect. `TEMPORAL_ADDRESS` names a server to use instead.
 */
export default async function shareTemporal(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEMPORAL_ADDRESS'];
  if (given) {
    project.provide('temporalAddress', given);
    return () => Promise.resolve();
  }
  const port = await freePort();
  project.provide('temporalAddress', `127.0.0.1:${port}`);
  const giveUp = new AbortController();
  const starting = findTemporal({ install: false })
    .then((command) => startTemporal({ command, port, signal: giveUp.signal }))
    .catch((error: Error): TemporalServer | undefined => {
      if (!giveUp.signal.aborted) console.error(`No Temporal for the suites that need it: ${error.message}`);
      return undefined;
    });
  return async () => {
    giveUp.abort();
    await (await starting)?.stop();
  };
}
