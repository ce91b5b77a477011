import { z } from 'zod';
import { ApprovalAgentSettings } from './approval-agent-settings.ts';
import { type EnvironmentVariable, readYamlSettings, SettingsError } from './yaml-settings.ts';

const host = z.string().min(1);
const port = z.int().min(0).max(65_535);
const url = z.url();

const Provider = z
  .strictObject({
    kind: z.enum(['openai', 'anthropic', 'google', 'openai-compatible']),
    /** Name of the environment variable that holds the key; none for a server without keys. */
    api_key_env: z.string().optional(),
    base_url: url.optional(),
    tiers: z.strictObject({ small: z.string(), medium: z.string(), large: z.string() }),
  })
  .refine((provider) => provider.kind !== 'openai-compatible' || provider.base_url !== undefined, {
    error: 'an openai-compatible provider needs base_url',
  });
export type ProviderSettings = z.infer<typeof Provider>;

/** Asked in this order where `models.provider` is `auto`. A file that names providers has only its own. */
const PROVIDERS: Record<string, ProviderSettings> = {
  openai: {
    kind: 'openai',
    api_key_env: 'OPENAI_API_KEY',
    tiers: { small: 'gpt-5-nano', medium: 'gpt-5-mini', large: 'gpt-5' },
  },
  anthropic: {
    kind: 'anthropic',
    api_key_env: 'ANTHROPIC_API_KEY',
    tiers: { small: 'claude-haiku-4-5', medium: 'claude-sonnet-4-5', large: 'claude-opus-4-1' },
  },
  google: {
    kind: 'google',
    api_key_env: 'GOOGLE_GENERATIVE_AI_API_KEY',
    tiers: { small: 'gemini-2.5-flash-lite', medium: 'gemini-2.5-flash', large: 'gemini-2.5-pro' },
  },
};

/** Fewer bytes than the hash has are guessed too easily (RFC 7518 §3.2). */
const SECRET_BYTES = 32;
const claim = z.string().min(1);

/** Off unless there are keys; then issuer and audience must be named. */
const Jwt = z
  .strictObject({
    /** Where the JWK set is: a file, relative to the project's folder, or a URL. */
    jwks: z.string().default(''),
    /** Shared secret, in the place of a JWK set. */
    secret: z.string().default(''),
    issuer: z.string().default(''),
    audience: z.string().default(''),
    claims: z
      .strictObject({
        user: claim.default('sub'),
        tenant: claim.default('tenant_id'),
        role: claim.default('role'),
      })
      .prefault({}),
    clock_tolerance_seconds: z.number().min(0).max(300).default(5),
  })
  .superRefine(({ jwks, secret, issuer, audience }, { addIssue }) => {
    const fault = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    if (jwks === '' && secret === '') return;
    if (jwks !== '' && secret !== '')
      fault('secret', 'there is a JWK set already; only one of them can be used');
    if (secret !== '' && Buffer.byteLength(secret) < SECRET_BYTES) {
      fault('secret', `must have at least ${SECRET_BYTES} bytes`);
    }
    if (/^http:/i.test(jwks) && !/^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/i.test(jwks)) {
      fault('jwks', 'keys from another machine must come by https');
    }
    if (issuer === '') fault('issuer', 'must be named where tokens are taken');
    if (audience === '') fault('audience', 'must be named where tokens are taken');
  });

/** The whole of `config/plangate.yaml`; unknown keys are refused. */
export const Settings = z.strictObject({
  gateway: z
    .strictObject({
      host: host.default('127.0.0.1'),
      port: port.default(8080),
      skip_auth: z.boolean().default(false),
      allowed_origins: z.array(url).default([]),
      require_if_match: z.boolean().default(false),
    })
    .prefault({}),
  jwt: Jwt.prefault({}),
  /** Requests of one user; 0: no limit. */
  rate_limits: z
    .strictObject({
      minute: z.int().min(0).default(60),
      hour: z.int().min(0).default(1_000),
      day: z.int().min(0).default(10_000),
    })
    .prefault({}),
  llm_service: z
    .strictObject({
      host: host.default('127.0.0.1'),
      port: port.default(8000),
      url: url.default('http://127.0.0.1:8000'),
    })
    .prefault({}),
  approval_agent: ApprovalAgentSettings.prefault({}),
  redis: z.strictObject({ url: url.default('redis://127.0.0.1:6379/0') }).prefault({}),
  temporal: z
    .strictObject({
      address: z.string().min(1).default('127.0.0.1:7233'),
      namespace: z.string().min(1).default('default'),
      task_queue: z.string().min(1).default('plangate'),
    })
    .prefault({}),
  review: z
    .strictObject({
      default_timeout_seconds: z.int().min(1).default(900),
      max_timeout_seconds: z.int().min(1).max(2_592_000).default(2_592_000),
      max_rounds: z.int().min(1).max(100).default(10),
      lock_ttl_seconds: z.number().min(0.5).default(15),
      model_timeout_seconds: z.number().min(0.1).default(60),
    })
    .prefault({}),
  events: z
    .strictObject({
      keep: z.int().min(1_000).default(10_000),
      keep_seconds: z.int().min(60).default(86_400),
      ping_seconds: z.number().min(0.05).default(10),
      streams_per_user: z.int().min(1).default(20),
    })
    .prefault({}),
  sweep: z
    .strictObject({
      interval_seconds: z.number().min(0.1).default(10),
      patience_seconds: z.number().min(1).default(60),
      overdue_seconds: z.number().min(1).default(300),
    })
    .prefault({}),
  documents: z
    .strictObject({
      folders: z
        .array(z.strictObject({ path: z.string().min(1), include: z.string().default('*') }))
        .default([{ path: 'node_modules', include: 'README*' }]),
    })
    .prefault({}),
  models: z
    .strictObject({
      provider: z.string().min(1).default('auto'),
      timeout_seconds: z.number().min(0.1).default(60),
      providers: z.record(z.string().regex(/^[a-z0-9-]+$/), Provider).default(PROVIDERS),
    })
    .prefault({}),
});
export type Settings = z.infer<typeof Settings>;

/** Environment variables that win over the file, each with the setting that it is. */
export const ENVIRONMENT: EnvironmentVariable[] = [
  { name: 'GATEWAY_HOST', path: ['gateway', 'host'], type: 'text' },
  { name: 'GATEWAY_PORT', path: ['gateway', 'port'], type: 'number' },
  { name: 'GATEWAY_SKIP_AUTH', path: ['gateway', 'skip_auth'], type: 'boolean' },
  { name: 'GATEWAY_ALLOWED_ORIGINS', path: ['gateway', 'allowed_origins'], type: 'list' },
  { name: 'JWT_JWKS', path: ['jwt', 'jwks'], type: 'text' },
  { name: 'JWT_SECRET', path: ['jwt', 'secret'], type: 'text', secret: true },
  { name: 'JWT_ISSUER', path: ['jwt', 'issuer'], type: 'text' },
  { name: 'JWT_AUDIENCE', path: ['jwt', 'audience'], type: 'text' },
  { name: 'JWT_USER_CLAIM', path: ['jwt', 'claims', 'user'], type: 'text' },
  { name: 'JWT_TENANT_CLAIM', path: ['jwt', 'claims', 'tenant'], type: 'text' },
  { name: 'JWT_ROLE_CLAIM', path: ['jwt', 'claims', 'role'], type: 'text' },
  { name: 'RATE_LIMIT_MINUTE', path: ['rate_limits', 'minute'], type: 'number' },
  { name: 'RATE_LIMIT_HOUR', path: ['rate_limits', 'hour'], type: 'number' },
  { name: 'RATE_LIMIT_DAY', path: ['rate_limits', 'day'], type: 'number' },
  { name: 'LLM_SERVICE_HOST', path: ['llm_service', 'host'], type: 'text' },
  { name: 'LLM_SERVICE_PORT', path: ['llm_service', 'port'], type: 'number' },
  { name: 'LLM_SERVICE_URL', path: ['llm_service', 'url'], type: 'text' },
  { name: 'APPROVAL_AGENT_HOST', path: ['approval_agent', 'host'], type: 'text' },
  { name: 'APPROVAL_AGENT_PORT', path: ['approval_agent', 'port'], type: 'number' },
  { name: 'APPROVAL_AGENT_SKIP_AUTH', path: ['approval_agent', 'skip_auth'], type: 'boolean' },
  { name: 'APPROVAL_AGENT_ALLOWED_ORIGINS', path: ['approval_agent', 'allowed_origins'], type: 'list' },
  { name: 'APPROVAL_AGENT_OUTBOX', path: ['approval_agent', 'email', 'outbox'], type: 'text' },
  { name: 'REDIS_URL', path: ['redis', 'url'], type: 'text' },
  { name: 'TEMPORAL_ADDRESS', path: ['temporal', 'address'], type: 'text' },
  { name: 'TEMPORAL_NAMESPACE', path: ['temporal', 'namespace'], type: 'text' },
  { name: 'TEMPORAL_TASK_QUEUE', path: ['temporal', 'task_queue'], type: 'text' },
  { name: 'MODEL_PROVIDER', path: ['models', 'provider'], type: 'text' },
];

/**
 * The settings of this process: file, then environment, checked once at start.
 * @param file path of `plangate.yaml`; a missing file means all defaults only when `PLANGATE_CONFIG` is not set
 * @throws {SettingsError} naming file and line, or the variable, and the reason
 */
export function loadSettings(environment: NodeJS.ProcessEnv, file: string): Settings {
  const settings = readYamlSettings(environment['PLANGATE_CONFIG'] ?? file, Settings, {
    environment,
    variables: ENVIRONMENT,
  });
  if (settings.review.default_timeout_seconds > settings.review.max_timeout_seconds) {
    throw new SettingsError('review.default_timeout_seconds is larger than review.max_timeout_seconds');
  }
  return settings;
}
