import type { Redis } from 'ioredis';

export type ScriptArgument = string | number | Buffer;
export type ScriptFunction = (redis: Redis, keys: string[], args: ScriptArgument[]) => Promise<unknown>;

/**
 * Turns a Lua script into a function. ioredis sends its hash and, where the server does not know it yet, its
 * text; `name` must be unique in the process.
 */
export function defineScript(name: string, lua: string): ScriptFunction {
  const command = `plangate_${name}`;
  return (redis, keys, args) => {
    if (!(command in redis)) redis.defineCommand(command, { lua });
    const call = (redis as unknown as Record<string, (...values: ScriptArgument[]) => Promise<unknown>>)[
      command
    ];
    if (!call) throw new Error(`script ${name} is not defined`);
    return call.call(redis, keys.length, ...keys, ...args);
  };
}
