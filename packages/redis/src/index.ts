export { connectRedis, isRedisUnavailable, type RedisOptions } from './connect.ts';
export { defineScript, type ScriptArgument, type ScriptFunction } from './script.ts';
