import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const exec = promisify(execFile);

/** Runs a command to its end; its standard output. */
export async function run(
  command: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  try {
    const { stdout } = await exec(command, args, { cwd, env, maxBuffer: 10_000_000 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${[command, ...args].join(' ')}\n${stdout}${stderr}`);
  }
}

/** Builds a workspace into `work` and packs it as it would be published; the path of the packed file. */
export async function buildAndPack(workspace: string, work: string): Promise<string> {
  const built = join(work, 'built');
  await run(process.execPath, [join(PROJECT, workspace, 'build/main.ts'), built], PROJECT);
  return pack(built, work);
}

/** Packs a folder; the path of the packed file. */
export async function pack(folder: string, work: string): Promise<string> {
  const out = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', work, folder],
    work,
  );
  const [packed] = Object.values(JSON.parse(out) as Record<string, { filename: string }>);
  return join(work, packed?.filename ?? '');
}

/** The program of the oldest Node that an installed package says it runs in, fetched through npx. */
export async function oldestNode(folder: string): Promise<string> {
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [, major = '', minor = '0'] = /^>=(\d+)(?:\.(\d+))?$/.exec(engines.node) ?? [];
  const version = `${major}.${minor}.0`;
  const call = ['--yes', `--package=node@${version}`, '--call', 'node --print "process.execPath"'];
  const node = (await run('npx', call, folder)).trim();
  if ((await run(node, ['--version'], folder)).trim() !== `v${version}`)
    throw new Error(`no Node ${version}: ${node}`);
  return node;
}

/** A folder of its own with these packed files installed, without any network. */
export async function installPacked(work: string, files: string[]): Promise<string> {
  const folder = join(work, 'consumer');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', ...files], folder);
  return folder;
}
