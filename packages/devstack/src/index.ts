export { freePort } from './free-port.ts';
export { type RedisOptions, type RedisServer, startRedis } from './redis.ts';
