import { createLog, type Logger } from './log.ts';
import { SettingsError } from './yaml-settings.ts';

/** Longest time in milliseconds that a stop may take before the process ends anyway. */
const STOP_LIMIT_MS = 15_000;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Runs a process: starts it, waits for SIGTERM or SIGINT, stops it cleanly. Bad settings end it with their
 * reason on standard error and exit code 78 (`EX_CONFIG` of sysexits.h), other faults with 1.
 * @param start returns the function that stops what it started
 */
export async function runService(
  name: string,
  start: (log: Logger) => Promise<() => Promise<void>>,
): Promise<void> {
  const level = process.env['LOG_LEVEL'] || 'info';
  const log = createLog(name, LEVELS.includes(level) ? level : 'info');
  try {
    if (!LEVELS.includes(level)) {
      throw new SettingsError(`LOG_LEVEL: '${level}' is no level (known: ${LEVELS.join(', ')})`);
    }
    const stop = await start(log);
    await signalled(log);
    const timer = setTimeout(() => {
      log.error({ limit_ms: STOP_LIMIT_MS }, 'stop took too long');
      process.exit(1);
    }, STOP_LIMIT_MS);
    timer.unref();
    await stop();
    log.info('stopped');
  } catch (error) {
    if (error instanceof SettingsError) {
      process.stderr.write(`${name}: bad settings\n${error.message}\n`);
      process.exit(78);
    }
    log.fatal({ err: error }, 'failed');
    process.exit(1);
  }
}

function signalled(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        log.info({ signal }, 'stopping');
        resolve();
      });
    }
  });
}
