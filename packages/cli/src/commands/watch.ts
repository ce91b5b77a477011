import type { TaskBody } from '@plangate/sdk';
import type { Command } from 'commander';
import { type Context, contextOf, type Surroundings } from '../context.ts';
import { describeEnd, describeEvent, hasSucceeded } from '../describe.ts';
import { EXIT, ExitError } from '../exit-codes.ts';
import { noteIfSlow } from '../note-if-slow.ts';

/** `watch`: the events of a task, live. */
export function addWatchCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('watch')
    .description('follow a task live to its end, one line for each event; exit code 5 where it has no result')
    .argument('<id>')
    .option('--types <names>', 'only these, such as PROGRESS,REVIEW_REMINDER')
    .option('--after <event>', 'begin after this event, by its id or number')
    .action(async (id: string, options: { types?: string; after?: string }, command: Command) => {
      const context = contextOf(command, surroundings);
      const { output } = context;
      const done = await follow(context, id, (line) => output.line(line), options);
      if (hasSucceeded(done)) return;
      throw new ExitError(EXIT.endedWithoutResult, output.isJson ? '' : describeEnd(done));
    });
}

/** Says every event of a task, as a line or as JSON, and returns the task once it has its end. */
export async function follow(
  context: Context,
  id: string,
  say: (line: string) => void,
  { types, after }: { types?: string; after?: string } = {},
): Promise<TaskBody> {
  const { plangate, output, signal } = context;
  const events = plangate.events.stream(id, { signal, types: types?.split(','), last_event_id: after });
  let next = await noteIfSlow(context, `events of ${id}`, events.next());
  for (; !next.done; next = await events.next()) {
    say(output.isJson ? JSON.stringify(next.value) : describeEvent(next.value, output));
  }
  return plangate.tasks.wait(id, { signal, by: 'polling', intervalSeconds: 0.2 });
}
