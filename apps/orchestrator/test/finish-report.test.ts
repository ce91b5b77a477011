import { finishReport, type ReportParts } from '@plangate/research';
import { expect, it } from 'vitest';
import { finishAnyReport } from '../src/activities/finish-report.ts';

const CLAIM = 'The gravity of the Moon raises a bulge of water [1]. 潮汐は月の引力で起こる。\n\n';
const partsOf = (body: string): ReportParts => ({
  title: 'Tides',
  body,
  passages: new Map([
    [
      1,
      {
        id: 'p1',
        title: 'Tides',
        url: 'file:tides.md',
        source: 'local',
        heading: '',
        text: 'The gravity of the Moon raises a bulge of water.',
      },
    ],
  ]),
  verify: true,
  enableCitations: true,
  unanswered: ['Why?'],
});

it.each([
  ['short', CLAIM],
  ['long', CLAIM.repeat(3_000)],
])('a %s report is checked alike in this thread and in one of its own', async (_name, body) => {
  const parts = partsOf(body);
  expect(await finishAnyReport(parts, new AbortController().signal)).toEqual(finishReport(parts));
});

it('while a long report is checked this thread goes on', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await finishAnyReport(partsOf(CLAIM.repeat(10_000)), new AbortController().signal);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(10);
});

it('a cancel ends the check of a long report', async () => {
  const abort = new AbortController();
  const checking = finishAnyReport(partsOf(CLAIM.repeat(40_000)), abort.signal);
  abort.abort(new Error('cancelled'));
  await expect(checking).rejects.toThrow('cancelled');
});
