import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = new URL('../src/index.ts', import.meta.url);
const CONTRACTS = new URL('../../contracts/src/', import.meta.url);
/** Imports and exports that stay when types are stripped. */
const IMPORT = /^(?:import|export)\s+(?!type\b)[^;]*?from '([^']+)';/gm;

/** All modules behind the root; what is not ours stays a name. */
function modulesOf(start: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(start.href)) return seen;
  seen.add(start.href);
  for (const [, name = ''] of readFileSync(start, 'utf8').matchAll(IMPORT)) {
    if (name.startsWith('.')) modulesOf(new URL(name, start), seen);
    else if (name.startsWith('@plangate/contracts/'))
      modulesOf(new URL(`${name.slice(20)}.ts`, CONTRACTS), seen);
    else seen.add(name);
  }
  return seen;
}

test('the core is pure: it imports its own files and two schema-free ones of contracts, nothing else', () => {
  const foreign = [...modulesOf(ROOT)].filter(
    (module) => !module.startsWith(new URL('../src/', import.meta.url).href),
  );
  expect(foreign.map((module) => module.replace(CONTRACTS.href, '')).sort()).toEqual(['json.ts', 'text.ts']);
});

test('the core works where code cannot be made from text', () => {
  const code = `
    import { newThread, receiveMessage, receiveReply, nextStep } from '@plangate/tool-approval';
    const asked = receiveMessage(newThread(), 'go', 25);
    const gate = { isGated: () => true, newId: () => 'id' };
    console.log(nextStep(receiveReply(asked, { tool_calls: [{ name: 't', args: '{}' }] }, gate)).do);
  `;
  const run = spawnSync(
    process.execPath,
    ['--disallow-code-generation-from-strings', '--input-type=module'],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      input: code,
      encoding: 'utf8',
    },
  );
  expect(run.stdout.trim()).toBe('ask_person');
});
