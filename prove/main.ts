import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { reportHistories } from './histories/report.ts';
import { proveHistories } from './histories/run.ts';
import { reportKills } from './kills/report.ts';
import { proveKills } from './kills/run.ts';

const USAGE = `npm run prove -- [--histories 10000] [--seed N] [--first N] [--repeat N] [--at-once N]
npm run prove -- --kill [--runs 1000] [--seed N] [--first N] [--waves N] [--lives 16] [--minutes N] [--at-once 2] [--in-turn]`;

process.exitCode = await main();
process.exit();

/** Proves the review by many random histories, or by killing parts of the product; exit code 1 where one fails. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      histories: { type: 'string', default: '10000' },
      seed: { type: 'string' },
      first: { type: 'string', default: '0' },
      repeat: { type: 'string', default: '1' },
      'at-once': { type: 'string' },
      kill: { type: 'boolean', default: false },
      runs: { type: 'string', default: '1000' },
      waves: { type: 'string' },
      lives: { type: 'string' },
      minutes: { type: 'string' },
      'in-turn': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : whole(values.seed);
  console.log(`seed ${seed}; load ${loadavg()[0]?.toFixed(2)}`);
  if (values.kill) {
    const result = await proveKills({
      seed,
      runs: whole(values.runs),
      first: whole(values.first),
      inTurn: values['in-turn'],
      ...(values.waves === undefined ? {} : { waves: whole(values.waves) }),
      ...(values.lives === undefined ? {} : { lives: whole(values.lives) }),
      ...(values['at-once'] === undefined ? {} : { atOnce: whole(values['at-once']) }),
      ...(values.minutes === undefined ? {} : { milliseconds: whole(values.minutes) * 60_000 }),
      onWave: (line) => console.log(`  ${line}`),
    });
    console.log(reportKills(result));
    console.log(`load ${loadavg()[0]?.toFixed(2)}`);
    return result.failure ? 1 : 0;
  }
  for (let n = 0; n < whole(values.repeat); n += 1) {
    const result = await proveHistories({
      seed,
      histories: whole(values.histories),
      first: whole(values.first),
      ...(values['at-once'] === undefined ? {} : { atOnce: whole(values['at-once']) }),
      onProgress: (done, rate) => console.log(`  ${done} histories, ${rate.toFixed(1)}/s`),
    });
    console.log(reportHistories(result));
    if (result.failure) return 1;
  }
  console.log(`load ${loadavg()[0]?.toFixed(2)}`);
  return 0;
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`not a whole number: ${text}\n${USAGE}`);
  return Number(text);
}
