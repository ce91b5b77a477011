export { freePort } from './free-port.ts';
export { type RedisOptions, type RedisServer, startRedis } from './redis.ts';
export type { Crash, Server } from './server.ts';
export { startTemporal, type TemporalOptions, type TemporalServer } from './temporal.ts';
