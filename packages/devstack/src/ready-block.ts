import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { chosenProvider, OFFLINE, PROJECT_FOLDER, type Settings } from '@plangate/service';
import type { Stack } from './stack.ts';

export interface ReadyFacts {
  settings: Settings;
  /** Where data and logs are. */
  folder: string;
  /** No credentials needed. */
  skipAuth: boolean;
  /** How long the start took, in words. */
  took: string;
}

/** What a person needs to know of a product that has just started: where it is, and what to try. */
export function readyBlock(stack: Stack, { settings, folder, skipAuth, took }: ReadyFacts): string {
  const url = stack.gatewayUrl;
  const key = skipAuth ? '' : ' -H "X-API-Key: $PLANGATE_API_KEY"';
  const makeKey = `
Make a key first and put it into PLANGATE_API_KEY:
  REDIS_URL=${withoutPassword(stack.redis.url)} npm run keys -- create --user me --tenant mine
`;
  return `
Plangate is ready (${took}).

  API         ${url}    ${skipAuth ? 'no credentials needed on this machine' : 'needs an API key'}
  OpenAPI     ${url}/openapi.json
  Approval    ${stack.approvalUrl}    tools that wait for a person: POST /hitl/chat, /hitl/review
  Redis       ${withoutPassword(stack.redis.url)}
  Temporal    ${stack.temporal.address}
  Models      ${isOwnLlm(stack) ? modelsLine(settings) : `those of the llm-service at ${stack.llmUrl}`}
  Documents   ${documentsLines(settings).join('\n              ')}
  Data, logs  ${folder}
${skipAuth ? '' : makeKey}
Try it:
  curl -s ${url}/api/v1/tasks${key} -H 'Content-Type: application/json' \\
    -d '{"query": "How do these libraries handle retries?", "context": {"require_review": true}}'
  curl -s ${url}/api/v1/tasks/<task_id>/review${key}
  curl -s ${stack.approvalUrl}/hitl/chat${key} -H 'Content-Type: application/json' \\
    -d '{"message": "email alice@example.com that the meeting is at 10"}'

Ctrl-C stops everything; the next start finds the open reviews again.
`;
}

/** False where the settings name an llm-service that runs elsewhere: what it has is not known here. */
function isOwnLlm({ llmUrl, env }: Stack): boolean {
  return llmUrl === `http://127.0.0.1:${env['LLM_SERVICE_PORT']}`;
}

/** Which provider answers, and what keeps it from answering. */
function modelsLine({ models }: Settings): string {
  const { name, missingKey } = chosenProvider(models, process.env);
  if (missingKey) return `${name}, but ${missingKey} is not set: plans will fail until it is`;
  return name === OFFLINE ? 'offline: deterministic, without network, over the local documents' : name;
}

/** One line for each folder; one that is missing is named with its whole path. */
function documentsLines({ documents }: Settings): string[] {
  if (documents.folders.length === 0) return ['none: no folder is named in the settings'];
  return documents.folders.map(({ path, include }) => {
    const folder = resolve(PROJECT_FOLDER, path);
    const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
    return isThere
      ? `${path} (${include})`
      : `WARNING: there is no folder ${folder}, so nothing is found in it`;
  });
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//***@');
}
