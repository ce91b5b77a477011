import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, ExitError } from '../exit-codes.ts';
import { plain } from '../output.ts';
import { textOf } from '../text-input.ts';
import { keepText } from './kept-text.ts';

/** The editor could not be started, or failed; its message is for the person. */
export class EditorError extends ExitError {}

/** What the editor is opened with, and around it. */
export interface Editing {
  environment: NodeJS.ProcessEnv;
  /** Told what the person should know: of characters that are not seen, and where a text is kept. */
  tell: (line: string) => void;
}

/**
 * Lets a person change a text in their editor, which gets it as it is; null where they left it as it was, or empty.
 * @throws {EditorError} where the editor cannot be started or fails; what it wrote is kept
 */
export async function editText(text: string, { environment, tell }: Editing): Promise<string | null> {
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi';
  const folder = mkdtempSync(join(tmpdir(), 'plangate-'));
  const file = join(folder, 'plan.md');
  const given = Buffer.from(`${text}\n`);
  const lines = text.replaceAll('\r\n', '\n');
  if (plain(lines) !== lines) tell('The plan holds characters that are not seen, or change how it is shown.');
  try {
    writeFileSync(file, given, { mode: 0o600 });
    await open(editor, file);
    const written = readFileSync(file);
    const saved = textOf(written, () => failed(editor, 'what it wrote is not UTF-8 text'));
    const edited = saved.replace(/\r?\n$/, '');
    return written.equals(given) || edited.trim() === '' ? null : edited;
  } catch (error) {
    const written = existsSync(file) ? readFileSync(file) : given;
    if (!written.equals(given)) tell(keepText(written));
    throw error;
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

function failed(editor: string, reason: string): EditorError {
  return new EditorError(
    EXIT.failure,
    `The editor "${editor}" failed (${reason}). Set EDITOR to another one.`,
  );
}
