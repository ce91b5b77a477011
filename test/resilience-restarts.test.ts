import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Step } from '../apps/llm-service/test/scripted-provider.ts';
import { taskPath } from './support/client.ts';

import { type Product, startProduct } from './support/product.ts';
import { expectResearchedOnce, expectToldOnce, followStream } from './support/resilience.ts';
import { until } from './support/until.ts';

/** A process that was killed is noticed by its missing heartbeat, 10 s later. */
const TIMEOUT_MS = 60_000;
const HANG: Step = { do: 'hang' };

let product: Product;
beforeAll(async () => {
  product = await startProduct({ modelSeconds: 40 });
});
afterAll(() => product.stop());

const reviewed = (query: string) => product.submit(query, { require_review: true });

async function etag(id: string): Promise<string> {
  return (await product.ask(taskPath(id, '/review'))).headers.get('etag') ?? '';
}

describe('a gateway that was killed and started again', () => {
  test('has every open review as it was, and feedback and approve work on it', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const id = await reviewed('Gateway killed in a review');
    const before = await product.review(id);
    const tag = await etag(id);

    await product.stack.apps.gateway.kill();
    await product.stack.apps.gateway.restart();

    expect(await product.review(id)).toEqual(before);
    expect(await etag(id)).toBe(tag);
    const revised = await product.feedback(id, 'Only open source', tag);
    expect([revised.status, revised.json.version, revised.json.round]).toEqual([200, 2, 2]);
    expect((await product.approve(id, revised.headers.get('etag') ?? '')).status).toBe(200);
    await expectResearchedOnce(product, id);
  });

  test('leaves the lock of a feedback that died with it only for the time of the lock', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const query = 'Gateway killed in a feedback';
    const id = await reviewed(query);
    const before = await product.review(id);
    product.model.on(query, ({ kind }) => (kind === 'plan' ? HANG : undefined));
    const lost = product.feedback(id, 'Never answered').catch((error: unknown) => error);
    await until(() => product.model.calls(query, 'plan').length === 2);

    await product.stack.apps.gateway.kill();
    expect(await lost).toBeInstanceOf(Error);
    await product.stack.apps.gateway.restart();
    product.model.on(query, () => undefined);

    expect(await product.review(id)).toEqual(before);
    const refused = await product.approve(id);
    if (refused.status !== 200) {
      expect([refused.status, refused.json.error]).toEqual([
        409,
        'A feedback request is in progress. Please wait and try again.',
      ]);
    }
    await until(async () => (await product.approve(id)).status === 200, 40_000);
    await expectResearchedOnce(product, id);
  });
});

describe('an orchestrator that was killed and started again', () => {
  test('goes on with a review that waits: approved, it ends with one report', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const id = await reviewed('Orchestrator killed in a review');
    await product.review(id);

    await product.stack.apps.orchestrator.kill();
    await product.stack.apps.orchestrator.restart();

    expect((await product.approve(id)).json.message).toBe('Research started');
    await expectResearchedOnce(product, id);
  });

  test.each(['decompose', 'write'] as const)(
    'goes on with research that was in a %s call of the model, and every event is there once',
    { timeout: TIMEOUT_MS },
    async (step) => {
      const query = `Orchestrator killed in ${step}`;
      product.model.on(query, ({ kind }) => (kind === step ? HANG : undefined));
      const id = await reviewed(query);
      await product.review(id);
      const follower = followStream(product.stack.gatewayUrl, id);
      await product.approve(id);
      await until(() => product.model.calls(query, step).length === 1);

      await product.stack.apps.orchestrator.kill();
      product.model.on(query, () => undefined);
      await product.stack.apps.orchestrator.restart();

      await expectResearchedOnce(product, id);
      expect(product.model.calls(query, step)).toHaveLength(2);
      await follower.done;
      expect(follower.events().map(({ seq }) => seq)).toEqual(
        (await product.events(id)).slice(0, -1).map(({ seq }) => seq),
      );
    },
  );

  test('makes the first plan that it was making when it was killed, once', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const query = 'Orchestrator killed in the first plan';
    product.model.on(query, () => HANG);
    const id = await reviewed(query);
    await until(() => product.model.calls(query, 'plan').length === 1);

    await product.stack.apps.orchestrator.kill();
    product.model.on(query, () => undefined);
    await product.stack.apps.orchestrator.restart();

    const review = await product.review(id);
    expect([review.version, review.round, review.status]).toEqual([1, 1, 'reviewing']);
    await product.approve(id);
    await expectResearchedOnce(product, id);
    expect((await product.types(id)).filter((type) => type === 'RESEARCH_PLAN_READY')).toHaveLength(1);
  });
});

describe('a Redis that was killed and started again', () => {
  test('has version, plan and events as before, and a reader that resumes gets everything once', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const id = await reviewed('Redis killed in a review');
    await product.review(id);
    await product.feedback(id, 'Only open source');
    const before = await product.review(id);
    const tag = await etag(id);
    const events = await product.events(id);
    const follower = followStream(product.stack.gatewayUrl, id);
    await until(() => follower.events().length === events.length);

    await product.stack.redis.kill();
    await product.stack.redis.restart();
    await until(async () => (await product.ask(taskPath(id, '/review'))).status === 200);

    expect(await product.review(id)).toEqual(before);
    expect(await etag(id)).toBe(tag);
    expect(await product.events(id)).toEqual(events);
    expect((await product.approve(id, tag)).status).toBe(200);
    await expectResearchedOnce(product, id);
    await follower.done;
    const all = await product.events(id);
    expect(follower.frames.map(({ id: frameId }) => frameId)).toEqual(all.map(({ stream_id }) => stream_id));
  });

  test('while research runs, the task ends right all the same, once', { timeout: TIMEOUT_MS }, async () => {
    const query = 'Redis killed in the research';
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    product.model.on(query, async ({ kind }) => {
      if (kind === 'write') await held;
      return undefined;
    });
    const id = await reviewed(query);
    await product.review(id);
    await product.approve(id);
    await until(() => product.model.calls(query, 'write').length === 1);

    await product.stack.redis.kill();
    answer();
    await product.stack.redis.restart();
    await until(async () => (await product.ask(taskPath(id))).status === 200);

    await expectResearchedOnce(product, id);
  });
});

describe('an llm-service that was killed', () => {
  test('while it made a first plan: the plan is made when it is back', { timeout: TIMEOUT_MS }, async () => {
    const query = 'llm-service killed in the first plan';
    product.model.on(query, () => HANG);
    const id = await reviewed(query);
    await until(() => product.model.calls(query, 'plan').length === 1);

    await product.stack.apps.llmService.kill();
    product.model.on(query, () => undefined);
    await product.stack.apps.llmService.restart();

    expect((await product.review(id)).version).toBe(1);
    await product.control(id, 'cancel');
    await product.ended(id);
    expectToldOnce(await product.events(id), 'WORKFLOW_CANCELLED');
  });

  test('while it revised a plan: 502, nothing changed, the round is not used', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const query = 'llm-service killed in a feedback';
    const id = await reviewed(query);
    const before = await product.review(id);
    const events = await product.events(id);
    product.model.on(query, () => HANG);
    const asked = product.feedback(id, 'Only open source');
    await until(() => product.model.calls(query, 'plan').length === 2);

    await product.stack.apps.llmService.kill();
    const refused = await asked;
    expect([refused.status, refused.json.error]).toEqual([502, 'Failed to generate updated plan']);
    expect(await product.review(id)).toEqual(before);
    expect(await product.events(id)).toEqual(events);

    product.model.on(query, () => undefined);
    await product.stack.apps.llmService.restart();
    const revised = await product.feedback(id, 'Only open source');
    expect([revised.status, revised.json.version, revised.json.round]).toEqual([200, 2, 2]);
    await product.control(id, 'cancel');
    await product.ended(id);
  });
});
