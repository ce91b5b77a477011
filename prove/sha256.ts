import { createHash } from 'node:crypto';

/** Lower-case hex SHA-256 of the UTF-8 text; of its own, so that a fault of the product's would be seen. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
