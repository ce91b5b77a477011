import { userInfo } from 'node:os';
import { onPath, type Report, run } from './run.ts';

/** What one program is called by the package managers. */
export interface PackageNames {
  apt: string[];
  brew: string[];
}

/**
 * Installs packages of the system: with brew, or with apt as root or in CI with sudo.
 * @returns false where there is no package manager that this process may use: a person has to do it
 * @throws {Error} with the last lines of the command that failed
 */
export async function installSystemPackages(
  names: PackageNames,
  report: Report,
  environment: NodeJS.ProcessEnv,
): Promise<boolean> {
  const commands = installer(names, environment);
  for (const [command, ...args] of commands) {
    report(`${[command, ...args].join(' ')} ...`);
    await run(command, args, { env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' }, report });
  }
  return commands.length > 0;
}

function installer({ apt, brew }: PackageNames, environment: NodeJS.ProcessEnv): [string, ...string[]][] {
  if (onPath('brew', environment)) return [['brew', 'install', ...brew]];
  if (!onPath('apt-get', environment)) return [];
  const commands: [string, ...string[]][] = [
    ['apt-get', 'update', '-q'],
    ['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...apt],
  ];
  if (userInfo().uid === 0) return commands;
  const maySudo = environment['CI'] && onPath('sudo', environment);
  return maySudo ? commands.map((command) => ['sudo', '-n', ...command]) : [];
}
