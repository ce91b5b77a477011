import { onPath, type Report, run, silent } from './run.ts';
import { installSystemPackages } from './system-packages.ts';

/** The oldest Redis that the product is made for. */
const OLDEST = 7;

interface Search {
  report?: Report;
  environment?: NodeJS.ProcessEnv;
}

/**
 * The path of `redis-server` 7 or later: on PATH, or installed with apt (as root, or in CI with sudo) or brew.
 * @throws {Error} saying what to do, where it is too old, or not there and cannot be installed
 */
export async function findRedis({
  report = silent,
  environment = process.env,
}: Search = {}): Promise<string> {
  const found = onPath('redis-server', environment) ?? (await install(report, environment));
  const version = /\bv=(\d+)\.(\S+)/.exec(await run(found, ['--version'], { env: environment }));
  if (Number(version?.[1]) >= OLDEST) return found;
  throw new Error(
    `${found} is Redis ${version?.[1]}.${version?.[2]}; Plangate needs Redis ${OLDEST} or later.\n${ADVICE}`,
  );
}

const ADVICE =
  'Install it (https://redis.io/docs/latest/operate/oss_and_stack/install/) or set REDIS_URL to a running server.';

async function install(report: Report, environment: NodeJS.ProcessEnv): Promise<string> {
  const names = { apt: ['redis-server'], brew: ['redis'] };
  const installed = await installSystemPackages(names, report, environment).catch((error: Error) => {
    throw new Error(`Redis could not be installed:\n${error.message}\n${ADVICE}`);
  });
  if (!installed) throw new Error(`redis-server is not on PATH.\n${ADVICE}`);
  const found = onPath('redis-server', environment);
  if (!found) throw new Error(`redis-server is not on PATH after its installation.\n${ADVICE}`);
  return found;
}
