import { parseArgs } from 'node:util';
import {
  adviseOnRedis,
  createKey,
  type KeyAction,
  KeyRequestError,
  listKeys,
  revokeKey,
  runKeyAction,
} from '@plangate/http/keys';
import { isRedisUnavailable } from '@plangate/redis';
import {
  configFile,
  loadSettings,
  namedServers,
  runningProduct,
  SettingsError,
  startFolder,
} from '@plangate/service';

const USAGE = `Usage:
  npm run keys -- create --user USER --tenant TENANT [--role ROLE] [--name NAME] [--expires-in-days DAYS]
  npm run keys -- list
  npm run keys -- revoke ID
With --json the result is JSON; npm run --silent keys -- … prints nothing else.`;

/** Exit codes of sysexits.h. */
const EXIT_USAGE = 64;
const EXIT_UNAVAILABLE = 69;
const EXIT_CONFIG = 78;

/** Does what was asked and says it; false where it could not be done. */
type Run = (redisUrl: string) => Promise<boolean>;

process.exitCode = await main(process.argv.slice(2), process.env);

/** Makes, lists and revokes API keys; returns the exit code. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let redisUrl = '';
  try {
    const run = parseCommand(args);
    redisUrl = redisUrlOf(environment);
    return (await run(redisUrl)) ? 0 : 1;
  } catch (error) {
    return explain(error, redisUrl);
  }
}

/** The Redis that the settings name, else that of the product which `npm start` runs, else the default. */
function redisUrlOf(environment: NodeJS.ProcessEnv): string {
  const settings = loadSettings(environment, configFile('plangate.yaml'));
  const named = namedServers(settings, environment).redisUrl;
  return named ?? runningProduct(startFolder(environment))?.redis_url ?? settings.redis.url;
}

function explain(error: unknown, redisUrl: string): number {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof KeyRequestError) {
    console.error(`${text}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (error instanceof SettingsError) {
    console.error(`Bad settings: ${text}`);
    return EXIT_CONFIG;
  }
  if (isRedisUnavailable(error)) {
    console.error(adviseOnRedis(redisUrl, error));
    return EXIT_UNAVAILABLE;
  }
  console.error(text);
  return 1;
}

/** What the arguments ask for; everything is checked before anything is touched. */
function parseCommand(args: string[]): Run {
  const { values: given, positionals } = parse(args);
  const { json = false, ...values } = given;
  const [command, id, ...more] = positionals;
  const options = Object.keys(values);

  if (command === 'create' && id === undefined) {
    return doing(createKey({ ...values, expiresInDays: values['expires-in-days'] }), json);
  }
  if (command === 'list' && id === undefined && options.length === 0) return doing(listKeys(), json);
  if (command === 'revoke' && id !== undefined && more.length === 0 && options.length === 0) {
    return doing(revokeKey(id), json, ({ revoked }) => revoked);
  }
  throw new KeyRequestError(
    command === 'revoke' && id === undefined
      ? 'revoke needs the ID of a key; list shows it.'
      : 'Nothing to do: say create, list or revoke.',
  );
}

function doing<T>(action: KeyAction<T>, json: boolean, succeeded: (result: T) => boolean = () => true): Run {
  return async (redisUrl) => {
    const result = await runKeyAction(redisUrl, action);
    const isDone = succeeded(result);
    (isDone || json ? console.log : console.error)(json ? JSON.stringify(result) : action.describe(result));
    return isDone;
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        user: { type: 'string' },
        tenant: { type: 'string' },
        role: { type: 'string' },
        name: { type: 'string' },
        'expires-in-days': { type: 'string' },
        json: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new KeyRequestError(error instanceof Error ? error.message : String(error));
  }
}
