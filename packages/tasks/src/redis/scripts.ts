import { readFileSync } from 'node:fs';
import { APPEND_LUA } from '@plangate/events/redis';
import { defineScript, type ScriptFunction } from '@plangate/redis';

/** The scripts of this package, one Lua file each; the header of a file says what it takes and returns. */
export const scripts = {
  create: script('create'),
  removeUnstarted: script('remove-unstarted'),
  update: script('update', APPEND_LUA),
  addUsage: script('add-usage'),
  end: script('end', APPEND_LUA),
  indexTask: script('index-task'),
  unindexTask: script('unindex-task'),
  closeOpen: script('close-open'),
  removeEmptySession: script('remove-empty-session'),
  saveFinding: script('save-finding'),
  renameSession: script('rename-session'),
  openSums: script('open-sums'),
  addToSums: script('add-to-sums'),
};

function script(file: string, fragment = ''): ScriptFunction {
  const lua = readFileSync(new URL(`./${file}.lua`, import.meta.url), 'utf8');
  return defineScript(`tasks_${file.replaceAll('-', '_')}`, `${fragment}\n${lua}`);
}
