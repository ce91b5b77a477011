import { startRedis, startTemporal } from '../../src/index.ts';

// Started by parent-death.test.ts, which kills it.
const [redis, temporal] = await Promise.all([startRedis(), startTemporal()]);
console.log(JSON.stringify({ pids: [redis.pid, temporal.pid], folder: redis.logFile }));
