import { isAbsolute, join } from 'node:path';
import { PROJECT_FOLDER, type Settings, SettingsError } from '@plangate/service';
import { emailTool } from './email.ts';
import { httpTool } from './http-tool.ts';
import { outbox, smtp } from './mail-delivery.ts';
import type { AgentTool } from './tool.ts';
import { weatherTool } from './weather.ts';

export type { AgentTool, CallContext } from './tool.ts';

/**
 * The tools of the agent: weather, e-mail, and what the settings declare.
 * @throws {SettingsError} naming the variable of the environment that a tool needs and that is not set
 */
export function createTools(
  settings: Settings['approval_agent'],
  environment: NodeJS.ProcessEnv,
): AgentTool[] {
  const { email, tools, private_hosts } = settings;
  const secret = (name: string): string => {
    const value = environment[name];
    if (!value) throw new SettingsError(`${name} is not set; approval_agent wants it`);
    return value;
  };
  const deliver = email.smtp
    ? smtp(email.smtp, email.smtp.password_env === undefined ? undefined : secret(email.smtp.password_env))
    : outbox(isAbsolute(email.outbox) ? email.outbox : join(PROJECT_FOLDER, email.outbox));
  return [
    weatherTool,
    emailTool(email.from, deliver),
    ...tools.map((tool) =>
      httpTool(tool, {
        privateHosts: private_hosts,
        ...(tool.bearer_env === undefined ? {} : { bearer: secret(tool.bearer_env) }),
      }),
    ),
  ];
}
