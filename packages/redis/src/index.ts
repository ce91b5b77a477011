export { millisecondsOf, redisNow } from './clock.ts';
export { connectRedis, firstConnection, isRedisUnavailable, type RedisOptions } from './connect.ts';
export { defineScript, type ScriptArgument, type ScriptFunction } from './script.ts';
export { faultAt, isUnreadable, keysOf, readStored, UnreadableStateError } from './unreadable.ts';
