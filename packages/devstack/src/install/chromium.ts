import { isExecutable, onPath, type Report, run, silent } from './run.ts';
import { installSystemPackages } from './system-packages.ts';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Where macOS keeps it without a command on PATH. */
const APPLICATIONS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const ADVICE = 'Install Chromium or Google Chrome so that one of them is on PATH.';

interface Search {
  report?: Report;
  environment?: NodeJS.ProcessEnv;
  /** False: an error instead of an installation. */
  install?: boolean;
}

/**
 * The path of Chromium or Chrome: on PATH, where macOS keeps it, or installed with apt (as root, or in CI with sudo)
 * or brew.
 * @throws {Error} saying what to do, where it is not there and cannot be installed, or does not run
 */
export async function findChromium(search: Search = {}): Promise<string> {
  const { report = silent, environment = process.env, install = true } = search;
  const look = () =>
    COMMANDS.map((command) => onPath(command, environment)).find((path) => path !== undefined) ??
    APPLICATIONS.find(isExecutable);
  let found = look();
  if (!found && install) {
    const names = { apt: ['chromium'], brew: ['chromium'] };
    await installSystemPackages(names, report, environment).catch((error: Error) => {
      throw new Error(`Chromium could not be installed:\n${error.message}\n${ADVICE}`);
    });
    found = look();
  }
  if (!found) throw new Error(`No browser is there. ${ADVICE}`);
  // Some systems have a command that only says where to get it.
  await run(found, ['--version'], { env: environment }).catch((error: Error) => {
    throw new Error(`${found} does not run:\n${error.message}\n${ADVICE}`);
  });
  return found;
}
