import { type JsonObject, ToolName } from '@plangate/contracts';
import { z } from 'zod';
import { schemaFaults } from './json-schema.ts';

/** JSON Schema of a tool's arguments; what is wrong with it is named where it stands. */
const Parameters = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: 'must be a JSON Schema',
  })
  .superRefine((schema, context) => {
    if (schema['type'] !== 'object') {
      context.addIssue({
        code: 'custom',
        path: ['type'],
        message: "arguments are an object: type must be 'object'",
      });
    }
    for (const { path, message } of schemaFaults(schema)) context.addIssue({ code: 'custom', path, message });
  });

const HttpTool = z.strictObject({
  name: ToolName,
  description: z.string().min(1),
  parameters: Parameters,
  url: z.url({ protocol: /^https?$/ }),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  approval: z.enum(['required', 'never']),
  /** Name of the environment variable whose value is sent as `Authorization: Bearer`. */
  bearer_env: z.string().min(1).optional(),
  timeout_seconds: z.number().min(0.1).max(600).default(30),
});
export type HttpToolSettings = z.infer<typeof HttpTool>;

const Email = z.strictObject({
  from: z.string().min(1).default('plangate@localhost'),
  /** Folder for `.eml` files, relative to the project's folder. */
  outbox: z.string().min(1).default('.plangate/outbox'),
  /** Null: messages are written to the outbox and not sent. */
  smtp: z
    .strictObject({
      host: z.string().min(1),
      port: z.int().min(1).max(65_535).default(587),
      /** TLS from the first byte; else STARTTLS where the server offers it. */
      secure: z.boolean().default(false),
      user: z.string().min(1).optional(),
      /** Name of the environment variable that holds the password. */
      password_env: z.string().min(1).optional(),
    })
    .refine(({ user, password_env }) => (user === undefined) === (password_env === undefined), {
      error: 'user and password_env go together',
    })
    .nullable()
    .default(null),
});
export type EmailSettings = z.infer<typeof Email>;

/** Names of the tools that the approval agent has by itself. */
export const BUILT_IN_TOOLS = ['get_weather', 'send_email'] as const;

/** `approval_agent` of `config/plangate.yaml`. */
export const ApprovalAgentSettings = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8090),
  skip_auth: z.boolean().default(false),
  allowed_origins: z.array(z.url()).default([]),
  system_prompt: z.string().default(''),
  /** Each third step sends the whole thread to the model: more of them would not fit into one history. */
  max_steps: z.int().min(1).max(100).default(25),
  /** Updates of one run of a thread's workflow; Temporal takes 2 000. */
  turns_per_run: z.int().min(1).max(1_500).default(1_500),
  tool_timeout_seconds: z.number().min(0.1).max(3_600).default(300),
  email: Email.prefault({}),
  /** Hosts of tools that may be private addresses, as they stand in the tool's URL. */
  private_hosts: z.array(z.string().min(1)).default([]),
  tools: z
    .array(HttpTool)
    .default([])
    .superRefine((tools, context) => {
      const seen = new Set<string>(BUILT_IN_TOOLS);
      tools.forEach(({ name }, index) => {
        if (seen.has(name)) {
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: `a tool named ${name} exists already`,
          });
        }
        seen.add(name);
      });
    }),
});
