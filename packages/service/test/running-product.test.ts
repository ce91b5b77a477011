import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordRunning, runningProduct } from '../src/index.ts';

const REDIS = { redis_url: 'redis://127.0.0.1:16379/0' };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plangate-running-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('what runs is found by its folder until it is taken back, and only its user can read it', () => {
  expect(runningProduct(folder)).toBeUndefined();
  const forget = recordRunning(folder, REDIS);
  expect(runningProduct(folder)).toEqual({ pid: process.pid, ...REDIS });
  expect(statSync(join(folder, 'running.json')).mode & 0o077).toBe(0);
  forget();
  expect(runningProduct(folder)).toBeUndefined();
});

test('a product that died, or a file that is broken, is not taken for one that runs', () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(join(folder, 'running.json'), JSON.stringify({ pid, ...REDIS }));
  expect(runningProduct(folder)).toBeUndefined();
  writeFileSync(join(folder, 'running.json'), '{');
  expect(runningProduct(folder)).toBeUndefined();
});
