import { createHash } from 'node:crypto';
import type { PlanAnswer } from '@plangate/contracts';
import type { HashedAnswer, HashedText } from '../commands.ts';

/** Lower-case hex SHA-256 of the UTF-8 text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

export function hashText(text: string): HashedText {
  return { text, sha256: sha256(text) };
}

export function hashAnswer(answer: PlanAnswer): HashedAnswer {
  return { answer, sha256: sha256(answer.plan ?? answer.message) };
}
