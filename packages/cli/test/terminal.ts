import { type IPty, spawn } from '@lydell/node-pty';
import { until } from '../../../test/support/until.ts';
import { COMMAND, cleanEnvironment } from './run-command.ts';

/** Colours, cursor movements and titles of a terminal (ECMA-48). */
const ESCAPES = new RegExp(
  `${String.fromCharCode(27)}(\\[[0-9;?]*[ -/]*[@-~]|\\][^${String.fromCharCode(7)}]*${String.fromCharCode(7)}|[@-Z\\\\-_])`,
  'g',
);

export const DOWN = `${String.fromCharCode(27)}[B`;
export const ENTER = '\r';
export const CTRL_C = String.fromCharCode(3);

/** The command in a pseudo-terminal, as a person uses it. */
export interface Terminal {
  /** Everything shown so far, without colours and movements. */
  text(): string;
  /** Everything as it came. */
  raw(): string;
  /** Waits until something is shown after what was waited for before. */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  pid: number;
  /** Resolves with the exit code. */
  ended: Promise<number>;
  stop(): void;
}

/** @param size such as `cols 0 rows 0`, what `stty` makes of the terminal first; default: 120 columns, 60 rows */
export function startTerminal(args: string[], env: Record<string, string>, size = ''): Terminal {
  let raw = '';
  let read = 0;
  let isOver = false;
  const sized = `stty ${size} && exec "$0" "$@"`;
  const [program, ...given] = [...(size ? ['/bin/sh', '-c', sized] : []), process.execPath, COMMAND, ...args];
  const pty: IPty = spawn(program ?? '', given, {
    cols: 120,
    rows: 60,
    env: cleanEnvironment({ TERM: 'xterm-256color', ...env }) as Record<string, string>,
  });
  pty.onData((data) => {
    raw += data;
  });
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      isOver = true;
      resolve(exitCode);
    });
  });
  const text = () => raw.replace(ESCAPES, '');
  return {
    text,
    raw: () => raw,
    async shows(wanted) {
      await until(() => {
        const at = text().indexOf(wanted, read);
        if (at >= 0) read = at + wanted.length;
        if (at < 0 && isOver) throw new Error(`ended without "${wanted}":\n${text()}`);
        return at >= 0;
      }).catch((error: unknown) => {
        throw new Error(`"${wanted}" is not shown:\n${text().slice(-3_000)}`, { cause: error });
      });
    },
    type: (keys) => pty.write(keys),
    pid: pty.pid,
    ended,
    stop: () => {
      if (!isOver) pty.kill();
    },
  };
}
