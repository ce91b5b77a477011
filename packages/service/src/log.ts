import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/**
 * The structured log of a process: JSON lines on standard output, with the process's name. Bodies and keys are
 * never logged; level from `LOG_LEVEL` (default `info`).
 */
export function createLog(name: string, level = 'info'): Logger {
  return pino({
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['req.headers.authorization', 'req.headers["x-api-key"]'],
  });
}
