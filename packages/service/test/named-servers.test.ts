import { expect, test } from 'vitest';
import { namedServers, Settings } from '../src/index.ts';

const DEFAULTS = Settings.parse({});

test('where the settings name no server, a start has its own', () => {
  expect(namedServers(DEFAULTS, {})).toEqual({});
  const port = { llm_service: { port: 8_100 } };
  expect(namedServers(Settings.parse(port), {})).toEqual({});
});

test('a variable names a server, also where it says the same as the default', () => {
  const environment = { REDIS_URL: 'as the settings have it', TEMPORAL_ADDRESS: 'too' };
  expect(namedServers(DEFAULTS, environment)).toEqual({
    redisUrl: DEFAULTS.redis.url,
    temporalAddress: DEFAULTS.temporal.address,
  });
});

test('a settings file that says something else than the default names a server', () => {
  const settings = Settings.parse({
    redis: { url: 'redis://redis.example:6379/0' },
    temporal: { address: 'temporal.example:7233' },
    llm_service: { url: 'http://llm.example:8000' },
  });
  expect(namedServers(settings, {})).toEqual({
    redisUrl: 'redis://redis.example:6379/0',
    temporalAddress: 'temporal.example:7233',
    llmUrl: 'http://llm.example:8000',
  });
});

test.each(['http://127.0.0.1:8100', 'http://localhost:8100', 'http://[::1]:8100'])(
  '%s is where the own llm-service would listen, so it names no other',
  (url) => {
    const settings = Settings.parse({ llm_service: { url, port: 8_100 } });
    expect(namedServers(settings, { LLM_SERVICE_URL: url })).toEqual({});
    expect(namedServers(settings, {})).toEqual({});
  },
);
