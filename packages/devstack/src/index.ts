export { type App, type AppName, type AppOptions, startApp } from './apps.ts';
export type { RedisPart, TemporalPart } from './external.ts';
export { freePort, isPortFree } from './free-port.ts';
export { type Nginx, type NginxOptions, startNginx } from './nginx.ts';
export { type RedisOptions, type RedisServer, startRedis } from './redis.ts';
export type { Crash, Server } from './server.ts';
export { ALL_APPS, type Stack, type StackOptions, startStack } from './stack.ts';
export { startTemporal, type TemporalOptions, type TemporalServer } from './temporal.ts';
