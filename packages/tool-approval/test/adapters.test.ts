import type { Decision, ReviewRequest } from '@plangate/contracts';
import { describe, expect, test } from 'vitest';
import {
  AgUiResumeError,
  fromAgentInbox,
  fromAgentInboxResponses,
  fromAgUiInterrupts,
  fromAgUiResume,
  fromLangChainDecisions,
  fromLangChainRequest,
  toAgentInbox,
  toAgentInboxResponses,
  toAgUiInterrupts,
  toAgUiResume,
  toLangChainDecisions,
  toLangChainRequest,
  waitingCallIds,
} from '../src/adapters/index.ts';
import { buildReviewRequest, InvalidReviewDecisionError, validateDecisions } from '../src/index.ts';
import { EMAIL, email, rig, weather } from './rig.ts';

const PAY = { amount: 5, urgent: false, note: null, to: { iban: 'X' }, tags: ['a'] };
const REQUEST: ReviewRequest = buildReviewRequest([
  { name: 'send_email', args: EMAIL },
  { name: 'pay', args: PAY },
  { name: 'send_email', args: EMAIL },
]);
const DECISIONS: Decision[] = [
  { type: 'approve' },
  { type: 'edit', edited_action: { name: 'pay', args: { ...PAY, amount: 6 } } },
  { type: 'reject', message: 'Not this one' },
];

describe('LangChain’s JavaScript spelling', () => {
  test('a request has the documented shape and comes back the same', () => {
    const theirs = toLangChainRequest(REQUEST);
    expect(theirs.actionRequests[0]).toEqual({
      name: 'send_email',
      args: EMAIL,
      description: 'Tool `send_email` menunggu persetujuan',
    });
    expect(theirs.reviewConfigs[1]).toEqual({
      actionName: 'pay',
      allowedDecisions: ['approve', 'edit', 'reject'],
    });
    expect(fromLangChainRequest(theirs)).toEqual(REQUEST);
  });

  test('decisions as a client of it sends them', () => {
    const recorded = [
      { type: 'approve' },
      { type: 'edit', editedAction: { name: 'pay', args: { ...PAY, amount: 6 } } },
      { type: 'reject', message: 'Not this one' },
    ];
    expect(fromLangChainDecisions(recorded)).toEqual(DECISIONS);
    expect(toLangChainDecisions(DECISIONS)).toEqual(recorded);
  });

  test.each([
    [['approve']],
    [[null]],
    [[{ type: 'respond', message: 'x' }]],
    [[{ type: 'edit', editedAction: 1 }]],
  ])('what is no decision is not made one: %j is refused by the validation', (decisions) => {
    const one = buildReviewRequest([{ name: 'a', args: {} }]);
    expect(() => validateDecisions(fromLangChainDecisions(decisions), one)).toThrow(
      InvalidReviewDecisionError,
    );
  });
});

describe('Agent Inbox', () => {
  test('an interrupt has the documented shape and comes back the same', () => {
    const interrupts = toAgentInbox(REQUEST);
    expect(interrupts[0]).toEqual({
      action_request: { action: 'send_email', args: EMAIL },
      config: { allow_ignore: true, allow_respond: true, allow_edit: true, allow_accept: true },
      description: 'Tool `send_email` menunggu persetujuan',
    });
    expect(fromAgentInbox(interrupts)).toEqual(REQUEST);
  });

  test('what may not be decided is not offered', () => {
    const [action_request] = REQUEST.action_requests;
    const request: ReviewRequest = {
      action_requests: [action_request!],
      review_configs: [{ action_name: 'send_email', allowed_decisions: ['approve'] }],
    };
    const [interrupt] = toAgentInbox(request);
    expect(interrupt?.config).toEqual({
      allow_ignore: false,
      allow_respond: false,
      allow_edit: false,
      allow_accept: true,
    });
    expect(fromAgentInbox([interrupt!])).toEqual(request);
  });

  test('responses as the Inbox sends them: values as text, and arguments on accept too', () => {
    const recorded = [
      {
        type: 'accept',
        args: { action: 'send_email', args: { ...EMAIL, to: 'what accept carries does not count' } },
      },
      {
        type: 'edit',
        args: {
          action: 'pay',
          args: { amount: '6', urgent: 'false', note: 'null', to: '{"iban":"X"}', tags: '["a"]' },
        },
      },
      { type: 'response', args: 'Not this one' },
    ];
    expect(fromAgentInboxResponses(recorded, REQUEST)).toEqual(DECISIONS);
    expect(fromAgentInboxResponses([{ type: 'ignore', args: null }], REQUEST)).toEqual([{ type: 'reject' }]);
  });

  test('text stays text where text was shown, and what is no JSON stays what was written', () => {
    const edit = (args: object) => [{ type: 'edit', args: { action: 'x', args } }];
    const shown = buildReviewRequest([{ name: 'x', args: { text: 'a', n: 1 } }]);
    expect(fromAgentInboxResponses(edit({ text: '5', n: 'five', more: '7' }), shown)).toEqual([
      { type: 'edit', edited_action: { name: 'x', args: { text: '5', n: 'five', more: '7' } } },
    ]);
  });

  test('our decisions become responses and come back the same', () => {
    const responses = toAgentInboxResponses([...DECISIONS.slice(0, 2), { type: 'reject' }], REQUEST);
    expect(responses.map(({ type }) => type)).toEqual(['accept', 'edit', 'ignore']);
    expect(fromAgentInboxResponses(toAgentInboxResponses(DECISIONS, REQUEST), REQUEST)).toEqual(DECISIONS);
  });

  test.each([
    ['accept'],
    [{ type: 'approve-all' }],
    [{ type: 'edit', args: null }],
    [{ type: 'edit', args: { action: 1, args: {} } }],
    [{ type: 'response', args: { a: 1 } }],
  ])('what is no response is refused by the validation: %j', (response) => {
    const one = buildReviewRequest([{ name: 'a', args: {} }]);
    expect(() => validateDecisions(fromAgentInboxResponses([response], one), one)).toThrow(
      InvalidReviewDecisionError,
    );
  });
});

describe('AG-UI', () => {
  const review = { id: 'r1', request: REQUEST };
  const resolved = (place: number, payload: unknown) => ({
    interruptId: `r1:${place}`,
    status: 'resolved',
    payload,
  });
  const ids = ['c1', 'c2', 'c3'];

  test('an interrupt is bound to its call, says that edits are possible, and comes back the same', () => {
    const interrupts = toAgUiInterrupts(review, ids);
    expect(interrupts[1]).toMatchObject({
      id: 'r1:1',
      reason: 'tool_call',
      toolCallId: 'c2',
      message: 'Tool `pay` menunggu persetujuan',
      responseSchema: {
        type: 'object',
        properties: { approved: { type: 'boolean' }, editedArgs: { type: 'object' } },
        required: ['approved'],
      },
    });
    expect(fromAgUiInterrupts(interrupts)).toEqual(REQUEST);
    expect(() => toAgUiInterrupts(review, ['c1'])).toThrow(RangeError);
  });

  test('a resume as a client sends it, in any order', () => {
    const recorded = [
      resolved(2, { approved: false, message: 'Not this one' }),
      resolved(0, { approved: true }),
      resolved(1, { approved: true, editedArgs: { ...PAY, amount: 6 } }),
    ];
    expect(fromAgUiResume(recorded, review)).toEqual(DECISIONS);
    expect(fromAgUiResume(toAgUiResume(DECISIONS, 'r1'), review)).toEqual(DECISIONS);
  });

  test('a cancelled interrupt is a rejection', () => {
    const one = { id: 'r1', request: buildReviewRequest([{ name: 'a', args: {} }]) };
    expect(fromAgUiResume([{ interruptId: 'r1:0', status: 'cancelled' }], one)).toEqual([{ type: 'reject' }]);
  });

  const yes = { approved: true };
  test.each<[string, unknown]>([
    ['no list', {}],
    ['an entry that is none', [null]],
    ['not all', [resolved(0, yes)]],
    ['one twice', [resolved(0, yes), resolved(0, yes), resolved(1, yes)]],
    ['one that is not open', [0, 1, 2, 3].map((i) => resolved(i, yes))],
    ['another review', [0, 1, 2].map((i) => ({ ...resolved(i, yes), interruptId: `r0:${i}` }))],
    ['an unknown status', [0, 1, 2].map((i) => ({ ...resolved(i, yes), status: 'ok' }))],
    ['no payload', [0, 1, 2].map((i) => resolved(i, undefined))],
    ['approved as text', [0, 1, 2].map((i) => resolved(i, { approved: 'true' }))],
    ['edited arguments as a list', [0, 1, 2].map((i) => resolved(i, { approved: true, editedArgs: [] }))],
  ])('a resume that does not answer the open interrupts is refused: %s', (_, resume) => {
    expect(() => fromAgUiResume(resume, review)).toThrow(AgUiResumeError);
  });
});

test('the calls that wait are those of the actions, in their order', async () => {
  const { say } = rig([
    { tool_calls: [weather('x', 'w'), email(EMAIL, 'a'), email('{', 'broken'), email(EMAIL, 'b')] },
  ]);
  const { messages, __interrupt__ } = await say('go');
  expect(waitingCallIds(__interrupt__?.[0].value ?? REQUEST, messages)).toEqual(['a', 'b']);
});

test('an agent is answered through each adapter', async () => {
  const three = [email(EMAIL, 'c1'), email(EMAIL, 'c2'), email(EMAIL, 'c3')];
  const { say, decide, runs } = rig([{ tool_calls: three }, { tool_calls: three }, { tool_calls: three }]);
  let [shown] = (await say('go')).__interrupt__ ?? [];
  const request = () => shown?.value ?? REQUEST;
  const answer = async (decisions: unknown[]) => {
    [shown] = (await decide(decisions)).__interrupt__ ?? [];
  };
  const approve: Decision = { type: 'approve' };
  const reject: Decision = { type: 'reject', message: 'no' };
  const decisions = [reject, approve, approve];
  await answer(fromLangChainDecisions(toLangChainDecisions(decisions)));
  await answer(fromAgentInboxResponses(toAgentInboxResponses(decisions, request()), request()));
  const review = { id: shown?.id ?? '', request: request() };
  await answer(fromAgUiResume(toAgUiResume(decisions, review.id), review));
  expect(runs).toHaveLength(6);
});
