import type { JsonObject } from '@plangate/contracts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { closedSchema } from '../src/tools/closed-schema.ts';
import { argumentCheck, defineTool, jsonSchemaOf, ToolBox } from '../src/tools/index.ts';

const text = { type: 'string' };
const person: JsonObject = {
  type: 'object',
  properties: { name: text, address: { type: 'object', properties: { city: text }, required: ['city'] } },
  required: ['name'],
};
const zodPerson = z.object({ name: z.string(), address: z.object({ city: z.string() }).optional() });

async function faults(parameters: JsonObject | typeof zodPerson, args: unknown) {
  const tool = defineTool({
    name: 't',
    description: '',
    parameters: parameters as JsonObject,
    execute: () => '',
  });
  const found = await argumentCheck(tool)(args as JsonObject);
  return found.map(({ path, problem }) => (problem === 'Unrecognized field' ? `${path}!` : path)).sort();
}

describe.each([
  ['JSON Schema', person],
  ['zod', zodPerson],
] as const)('arguments are checked field by field: %s', (_, schema) => {
  test.each([
    ['fitting ones', { name: 'a', address: { city: 'b' } }, []],
    ['a missing field', {}, ['name']],
    ['a wrong type', { name: 1 }, ['name']],
    ['null', { name: null }, ['name']],
    ['a fault deeper down', { name: 'a', address: { city: 1 } }, ['address.city']],
    ['a missing field deeper down', { name: 'a', address: {} }, ['address.city']],
    ['a field outside the schema', { name: 'a', cc: 1 }, ['cc!']],
    ['one deeper down', { name: 'a', address: { city: 'b', zip: 1 } }, ['address.zip!']],
    [
      'names of Object.prototype',
      JSON.parse('{"name":"a","constructor":1,"toString":2}'),
      ['constructor!', 'toString!'],
    ],
    ['__proto__', JSON.parse('{"name":"a","__proto__":{"x":1}}'), ['__proto__!']],
    ['odd names', { name: 'a', 'b/c~d%': 1 }, ['b/c~d%!']],
    ['several at once', { address: { city: 1 }, cc: 1 }, ['address.city', 'cc!', 'name']],
  ])('%s', async (_case, args, expected) => {
    expect(await faults(schema, args)).toEqual(expected);
  });
});

describe('schemas that say more', () => {
  test.each<[string, JsonObject, unknown, string[]]>([
    [
      'additionalProperties true stays open',
      { ...person, additionalProperties: true },
      { name: 'a', cc: 1 },
      [],
    ],
    ['an object without named fields stays open', { type: 'object' }, { anything: 1 }, []],
    ['additionalProperties false', { ...person, additionalProperties: false }, { name: 'a', cc: 1 }, ['cc!']],
    [
      'allOf adds fields up',
      { allOf: [person, { properties: { age: { type: 'integer' } } }] },
      { name: 'a', age: 1, cc: 2 },
      ['cc!'],
    ],
    [
      '$ref',
      { $defs: { p: person }, type: 'object', properties: { p: { $ref: '#/$defs/p' } } },
      { p: { name: 'a', cc: 1 } },
      ['p.cc!'],
    ],
    [
      'lists of objects',
      { type: 'object', properties: { all: { type: 'array', items: person } } },
      { all: [{ name: 'a' }, { name: 'b', cc: 1 }] },
      ['all.1.cc!'],
    ],
    [
      'patternProperties',
      { type: 'object', patternProperties: { '^x-': text } },
      { 'x-a': 'b', y: 1 },
      ['y!'],
    ],
    [
      'enum and length',
      { type: 'object', properties: { a: { enum: ['x'] }, b: { type: 'string', minLength: 2 } } },
      { a: 'y', b: 'z' },
      ['a', 'b'],
    ],
  ])('%s', async (_, schema, args, expected) => {
    expect(await faults(schema, args)).toEqual(expected);
  });

  test('closing a schema changes nothing of the one that was given', () => {
    const before = structuredClone(person);
    closedSchema(person);
    expect(person).toEqual(before);
  });

  test('a tool gets the arguments as they were shown: no defaults, nothing converted', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: 't',
      description: '',
      parameters: z.object({ n: z.coerce.number(), more: z.string().default('x').optional() }),
      execute: (args) => seen.push(args),
    });
    const box = new ToolBox({ tools: [tool], toolsRequiringApproval: [] });
    const call = { id: 'a', name: 't', args: { n: '5' } };
    await box.execute({ call, gated: false, decision: null }, 'thread');
    expect(seen).toEqual([{ n: '5' }]);
  });

  test('rules of zod that JSON Schema cannot say hold too', async () => {
    const parameters = z.object({ a: z.string().refine((a) => a.startsWith('x'), 'Must begin with x') });
    const box = new ToolBox({
      tools: [defineTool({ name: 't', description: '', parameters, execute: () => '' })],
      toolsRequiringApproval: [],
    });
    const call = { id: 'a', name: 't', args: { a: 'y' } };
    expect(await box.execute({ call, gated: false, decision: null }, 'thread')).toEqual({
      content: 'Error: invalid arguments for t. a: Must begin with x',
      status: 'error',
    });
  });

  test('the model is told the JSON Schema of a zod tool', () => {
    expect(jsonSchemaOf(zodPerson)).toMatchObject({ type: 'object', required: ['name'] });
  });
});

describe('the executor', () => {
  const box = (execute: () => unknown) => {
    const tool = defineTool({ name: 't', description: '', parameters: { type: 'object' }, execute });
    return new ToolBox({ tools: [tool], toolsRequiringApproval: ['t'] });
  };
  const order = { call: { id: 'a', name: 't', args: {} }, gated: true, decision: 'approve' as const };

  test.each([
    ['text', 'a\r\nb', 'a\nb'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['nothing', undefined, ''],
    ['null', null, 'null'],
  ])('what a tool returns becomes text: %s', async (_, returned, content) => {
    expect(await box(() => returned).execute(order, 'thread')).toEqual({ content, status: 'success' });
  });

  test('what a tool returns without a JSON text has been executed all the same, and is not called failed', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const returned of [circle, { n: 1n }]) {
      const told: unknown[] = [];
      const result = await box(() => returned).execute(order, 'thread', (error) => told.push(error));
      expect(result).toEqual({
        content: 't was executed, but its result cannot be shown.',
        status: 'success',
      });
      expect(told).toEqual([expect.any(TypeError)]);
    }
  });

  test.each([null, 'reject'] as const)(
    'P36 refuses a gated call whose decision is %s, without running it',
    async (decision) => {
      let ran = false;
      const result = await box(() => {
        ran = true;
      }).execute({ ...order, gated: false, decision }, 'thread');
      expect(result.status).toBe('error');
      expect(ran).toBe(false);
    },
  );

  test('what a tool throws is told to the driver alone', async () => {
    const faultsSeen: unknown[] = [];
    const fault = new Error('secret');
    const result = await box(() => {
      throw fault;
    }).execute(order, 'thread', (error) => faultsSeen.push(error));
    expect(result).toEqual({ content: 'Error: t failed.', status: 'error', threw: true });
    expect(faultsSeen).toEqual([fault]);
  });
});
