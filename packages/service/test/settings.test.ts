import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  chosenProvider,
  configFile,
  loadSettings,
  loadStrategies,
  PROJECT_FOLDER,
  Settings,
} from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'plangate-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function file(text: string): string {
  files += 1;
  const path = join(folder, `${files}.yaml`);
  writeFileSync(path, text);
  return path;
}

function faultOf(text: string, environment: NodeJS.ProcessEnv = {}): string {
  const path = file(text);
  try {
    loadSettings(environment, path);
  } catch (error) {
    return (error as Error).message.replace(path, 'FILE');
  }
  throw new Error('the settings were accepted');
}

describe('settings', () => {
  it('the file that ships holds the defaults that the code has', () => {
    const shipped = loadSettings({}, configFile('plangate.yaml'));
    expect(shipped).toEqual(Settings.parse({}));
    expect(Object.keys(shipped.models.providers)).toEqual(['openai', 'anthropic', 'google']);
  });

  it.each([
    ['nothing', ''],
    ['documents', 'documents:\n  folders:\n    - path: documents\n'],
    ['a model', 'models:\n  timeout_seconds: 30\n'],
  ])('a file that holds only %s leaves the three providers as they are', (_, text) => {
    const { models } = loadSettings({}, file(text));
    expect(models.providers).toEqual(Settings.parse({}).models.providers);
    expect(chosenProvider(models, { ANTHROPIC_API_KEY: 'key' })).toMatchObject({ name: 'anthropic' });
  });

  it('a file that names providers has only its own', () => {
    const local =
      'models:\n  providers:\n    local:\n      kind: openai-compatible\n      base_url: http://127.0.0.1:11434/v1\n      tiers: { small: a, medium: b, large: c }\n';
    expect(Object.keys(loadSettings({}, file(local)).models.providers)).toEqual(['local']);
  });

  it('an empty file means all defaults', () => {
    expect(loadSettings({}, file('')).gateway.port).toBe(8080);
  });

  it('a misspelt key stops the start with file, line and reason', () => {
    expect(faultOf('gateway:\n  port: 8080\n  skip_auht: true\n')).toBe(
      'FILE:3: gateway.skip_auht: unknown setting',
    );
  });

  it('a bad value stops the start with file, line and reason', () => {
    expect(faultOf('# comment\nreview:\n  max_rounds: 0\n')).toMatch(/^FILE:3: review\.max_rounds: .*>=1/);
  });

  it('limits of requests are numbers, 0 for none', () => {
    expect(loadSettings({ RATE_LIMIT_MINUTE: '0' }, file('')).rate_limits).toEqual({
      minute: 0,
      hour: 1_000,
      day: 10_000,
    });
    expect(faultOf('rate_limits:\n  minute: -1\n')).toMatch(/^FILE:2: rate_limits\.minute: /);
  });

  it('tokens need an issuer, an audience and one kind of keys', () => {
    const jwt = (lines: string) => faultOf(`jwt:\n${lines}`);
    expect(jwt('  jwks: keys.json\n  issuer: me\n')).toBe(
      'FILE:1: jwt.audience: must be named where tokens are taken',
    );
    expect(jwt('  jwks: keys.json\n  audience: me\n')).toMatch(/jwt\.issuer: must be named/);
    const both = `  jwks: keys.json\n  issuer: me\n  audience: me\n  secret: ${'x'.repeat(32)}\n`;
    expect(jwt(both)).toMatch(/^FILE:5: jwt\.secret: there is a JWK set already/);
    expect(jwt('  jwks: http://example.org/keys\n  issuer: me\n  audience: me\n')).toMatch(
      /^FILE:2: jwt\.jwks: .*https/,
    );
    const local = 'jwt:\n  jwks: http://127.0.0.1:8081/keys\n  issuer: me\n  audience: me\n';
    expect(loadSettings({}, file(local)).jwt.issuer).toBe('me');
    expect(loadSettings({ JWT_TENANT_CLAIM: 'org' }, file('')).jwt.claims.tenant).toBe('org');
  });

  it('a secret that is too short is refused without being shown', () => {
    const fault = faultOf('', { JWT_SECRET: 'too-short', JWT_ISSUER: 'me', JWT_AUDIENCE: 'me' });
    expect(fault).toBe('JWT_SECRET: must have at least 32 bytes');
  });

  const tool = (lines: string) =>
    `approval_agent:\n  tools:\n    - name: t\n      description: d\n      url: https://example.org/t\n      method: POST\n      approval: required\n${lines}`;

  it.each([
    [
      '      parameters: { type: object }\n      aproval: never\n',
      'FILE:9: approval_agent.tools.0.aproval: unknown setting',
    ],
    [
      '      parameters: { type: string }\n',
      "FILE:8: approval_agent.tools.0.parameters.type: arguments are an object: type must be 'object'",
    ],
    [
      '      parameters:\n        type: object\n        properties:\n          a: { type: strng }\n',
      'FILE:11: approval_agent.tools.0.parameters.properties.a.type: no JSON Schema: must be equal to one of the allowed values',
    ],
    [
      '      parameters: { type: object, requird: [a] }\n',
      'FILE:8: approval_agent.tools.0.parameters: no JSON Schema: strict mode: unknown keyword: "requird"',
    ],
  ])('P68 a misspelt setting of a tool stops the start with file and line: %s', (lines, expected) => {
    expect(faultOf(tool(lines)).split('\n')[0]).toBe(expected);
  });

  it('a tool without its approval, with a name that exists, or a URL of another protocol is refused', () => {
    const fault = faultOf(
      tool('      parameters: { type: object }\n')
        .replace('name: t', 'name: send_email')
        .replace('https://', 'file://')
        .replace('      approval: required\n', ''),
    );
    expect(fault).toMatch(/FILE:5: approval_agent\.tools\.0\.url: /);
    expect(fault).toMatch(/approval_agent\.tools\.0\.approval: /);
    expect(faultOf(tool('      parameters: { type: object }\n').replace('name: t', 'name: send_email'))).toBe(
      'FILE:3: approval_agent.tools.0.name: a tool named send_email exists already',
    );
  });

  it('every fault is named, not only the first', () => {
    expect(faultOf('gateway:\n  port: x\nredis:\n  url: 5\n').split('\n')).toHaveLength(2);
  });

  it('broken YAML and a key that stands twice are named with their line', () => {
    expect(faultOf('gateway:\n  port: [1\n')).toMatch(/^FILE:\d+: /);
    expect(faultOf('redis:\n  url: redis://a\nredis:\n  url: redis://b\n')).toMatch(/^FILE:3: .*unique/i);
  });

  it('a file that is not there is named', () => {
    expect(() => loadSettings({ PLANGATE_CONFIG: '/nowhere/plangate.yaml' }, 'unused')).toThrow(
      '/nowhere/plangate.yaml',
    );
  });

  it('a default that is longer than the longest allowed is refused', () => {
    expect(faultOf('review:\n  default_timeout_seconds: 90\n  max_timeout_seconds: 60\n')).toContain(
      'default_timeout_seconds is larger',
    );
  });

  it('environment variables win over the file, by type', () => {
    const settings = loadSettings(
      {
        GATEWAY_PORT: '9000',
        GATEWAY_SKIP_AUTH: '1',
        GATEWAY_ALLOWED_ORIGINS: 'https://a.example, https://b.example',
        REDIS_URL: 'redis://other:1/2',
        MODEL_PROVIDER: '',
      },
      file('gateway:\n  port: 1\nmodels:\n  provider: offline\n'),
    );
    expect(settings.gateway).toMatchObject({
      port: 9_000,
      skip_auth: true,
      allowed_origins: ['https://a.example', 'https://b.example'],
    });
    expect(settings.redis.url).toBe('redis://other:1/2');
    expect(settings.models.provider).toBe('offline');
  });

  it.each([
    ['GATEWAY_SKIP_AUTH', 'yes'],
    ['GATEWAY_PORT', '80a'],
    ['GATEWAY_PORT', '70000'],
  ])('a bad %s=%s is refused by its name: nothing is guessed', (name, value) => {
    expect(faultOf('', { [name]: value })).toMatch(new RegExp(`^${name}: .*got '${value}'`));
  });

  it('P68 a misspelt key in the strategies is refused, and none of the four may be missing', () => {
    const preset =
      '{ max_questions: 1, max_concurrent_agents: 1, passages_per_question: 1, max_iterations: 1, enable_verification: true }';
    const three = `quick: ${preset}\nstandard: ${preset}\ndeep: ${preset}\n`;
    expect(() => loadStrategies(file(three))).toThrow('academic');
    expect(() => loadStrategies(file(`${three}academc: ${preset}\nacademic: ${preset}\n`))).toThrow(
      'academc',
    );
  });

  it('a log level that does not exist ends a process with the levels that do', () => {
    const app = spawnSync(process.execPath, [join(PROJECT_FOLDER, 'apps/gateway/src/main.ts')], {
      env: { PATH: process.env['PATH'], LOG_LEVEL: 'loud' },
      encoding: 'utf8',
    });
    expect(app.status).toBe(78);
    expect(app.stderr).toContain("LOG_LEVEL: 'loud' is no level (known: trace, debug, info");
  });

  it('a process with bad settings ends with their reason and exit code 78', () => {
    const app = spawnSync(process.execPath, [join(PROJECT_FOLDER, 'apps/gateway/src/main.ts')], {
      env: { PATH: process.env['PATH'], GATEWAY_PORT: 'nine' },
      encoding: 'utf8',
    });
    expect(app.status).toBe(78);
    expect(app.stderr).toContain(
      "GATEWAY_PORT: Invalid input: expected number, received string (got 'nine')",
    );
  });
});
