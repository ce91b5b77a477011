import { Command } from 'commander';
import { addKeysCommands } from './commands/keys.ts';
import { addReviewCommands } from './commands/review.ts';
import { addTaskCommands } from './commands/tasks.ts';
import { addWatchCommand } from './commands/watch.ts';
import type { Surroundings } from './context.ts';
import { EXIT_HELP } from './exit-codes.ts';

/**
 * The command line: every command with its options. Mistakes in it are thrown, not printed twice.
 * @param options.isJson they are not printed here at all
 */
export function createProgram(
  version: string,
  surroundings: Surroundings,
  { isJson }: { isJson: boolean },
): Command {
  const program = new Command('plangate')
    .description('Review what an AI agent plans before it is done.')
    .version(version)
    .option('--url <url>', 'where the gateway is (PLANGATE_URL; default http://localhost:8080)')
    .option('--api-key <key>', 'better in PLANGATE_API_KEY, where other users of the machine do not see it')
    .option('--timeout <seconds>', 'longest wait for one answer')
    .option('--json', 'JSON on standard output, for scripts; errors as JSON on standard error')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('(plangate --help shows everything)');
  addTaskCommands(program, surroundings);
  addReviewCommands(program, surroundings);
  addWatchCommand(program, surroundings);
  addKeysCommands(program, surroundings);
  exitByThrowing(program, isJson);
  return program;
}

function exitByThrowing(command: Command, isSilent: boolean): void {
  command.exitOverride();
  if (isSilent) command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) exitByThrowing(child, isSilent);
}
