import { readFileSync } from 'node:fs';
import { APPEND_LUA } from '@plangate/events/redis';

/** The text of a script in this folder. */
export function luaFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** A script of this folder that appends events: it starts with the fragment `append.lua`. */
export function luaWithEvents(name: string): string {
  return `${APPEND_LUA}\n${luaFile(name)}`;
}
