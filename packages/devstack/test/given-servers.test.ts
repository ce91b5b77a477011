import { expect, test } from 'vitest';
import { checkLlmService } from '../src/given-servers.ts';

test('a llm-service that does not answer is named with its variable', async () => {
  await expect(checkLlmService('http://127.0.0.1:2')).rejects.toThrow(
    'llm-service at http://127.0.0.1:2 (LLM_SERVICE_URL) does not answer',
  );
});
