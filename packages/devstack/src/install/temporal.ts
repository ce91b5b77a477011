import { createWriteStream, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { programFolder } from './cache.ts';
import { isExecutable, onPath, type Report, run, silent } from './run.ts';

/** The release of the Temporal command line that is installed where there is none. */
export const TEMPORAL_VERSION = 'v1.5.1';

const DOWNLOAD_URL = 'https://temporal.download/cli/archive';

interface Search {
  report?: Report;
  environment?: NodeJS.ProcessEnv;
  /** Where the official archives are; tests pass their own. */
  downloadUrl?: string;
  /** False: an error instead of an installation. */
  install?: boolean;
}

/**
 * The path of the `temporal` command: on PATH, in Plangate's cache, or else downloaded from temporal.download or
 * built with Go into that cache.
 * @throws {Error} saying what to do, where it is not there and cannot be installed
 */
export async function findTemporal(search: Search = {}): Promise<string> {
  const { report = silent, environment = process.env, install = true } = search;
  const folder = programFolder(environment);
  const cached = join(folder, 'temporal');
  const found = onPath('temporal', environment) ?? (isExecutable(cached) ? cached : undefined);
  if (found) return found;
  if (!install) throw new Error('the temporal command is missing; npm start or npm test installs it');

  mkdirSync(folder, { recursive: true });
  const faults: string[] = [];
  for (const install of [download, build]) {
    const work = mkdtempSync(join(folder, 'installing-'));
    try {
      const program = await install(work, { ...search, report, environment });
      await run(program, ['--version']);
      renameSync(program, cached);
      return cached;
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new Error(
    [
      'Temporal is missing and could not be installed:',
      ...faults.map((fault) => `- ${fault}`),
      'Install the Temporal command line (https://docs.temporal.io/cli) so that `temporal` is on PATH, or Go 1.25,',
      'or set TEMPORAL_ADDRESS to a running server.',
    ].join('\n'),
  );
}

type Installation = Search & { report: Report; environment: NodeJS.ProcessEnv };

/** Longest wait in milliseconds for the first byte of the archive: without a network the next way is tried soon. */
const FIRST_BYTE_MS = 5_000;
const DOWNLOAD_MS = 600_000;

async function download(
  folder: string,
  { report, downloadUrl = DOWNLOAD_URL }: Installation,
): Promise<string> {
  const platform = { linux: 'linux', darwin: 'darwin' }[process.platform as string];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  const url = `${downloadUrl}/${TEMPORAL_VERSION}?platform=${platform}&arch=${arch}`;
  if (!platform || !arch) throw new Error(`no download for ${process.platform} on ${process.arch}`);

  report(`downloading Temporal ${TEMPORAL_VERSION} ...`);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error('no answer within 5 s')), FIRST_BYTE_MS);
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(DOWNLOAD_MS)]);
  const response = await fetch(url, { signal }).catch((error: Error) => {
    throw new Error(`${url}: ${error.cause instanceof Error ? error.cause.message : error.message}`);
  });
  clearTimeout(timer);
  if (!response.ok || !response.body) throw new Error(`${url}: HTTP ${response.status}`);
  const archive = join(folder, 'temporal.tar.gz');
  await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(archive));
  await run('tar', ['-xzf', archive, '-C', folder, 'temporal']);
  return join(folder, 'temporal');
}

async function build(folder: string, { report, environment }: Installation): Promise<string> {
  const go = onPath('go', environment);
  if (!go) throw new Error('go is not on PATH, so it cannot be built');
  report(`building Temporal ${TEMPORAL_VERSION} with Go, once; this takes about three minutes ...`);
  await run(go, ['install', `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_VERSION}`], {
    env: { ...environment, GOBIN: folder, GOFLAGS: '' },
    cwd: folder,
    report,
  });
  return join(folder, 'temporal');
}
