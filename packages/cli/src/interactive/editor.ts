import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, ExitError } from '../exit-codes.ts';

/**
 * Lets a person change a text in their editor; null where they left it as it was, or empty.
 * @throws {ExitError} where the editor cannot be started or fails
 */
export async function editText(text: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi';
  const folder = mkdtempSync(join(tmpdir(), 'plangate-'));
  const file = join(folder, 'plan.md');
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    await open(editor, file);
    const edited = readFileSync(file, 'utf8').trimEnd();
    return edited === text || edited.trim() === '' ? null : edited;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Through the shell, as editors are often named with options: `code --wait`. */
function open(editor: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.once('error', (error) => reject(failed(editor, error.message)));
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(failed(editor, signal ?? `exit code ${code}`));
    });
  });
}

function failed(editor: string, reason: string): ExitError {
  return new ExitError(EXIT.failure, `The editor "${editor}" failed (${reason}). Set EDITOR to another one.`);
}
