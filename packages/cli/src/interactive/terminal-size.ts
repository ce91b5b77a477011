import type { WriteStream } from 'node:tty';

const COLUMNS = 80;
const ROWS = 24;

/** A terminal that says that it has no columns or rows, as some in containers do, is taken for one of 80 by 24. */
export function assumeSize(terminal: Pick<WriteStream, 'columns' | 'rows' | 'on'>): void {
  const assume = () => {
    if (terminal.columns === 0) terminal.columns = COLUMNS;
    if (terminal.rows === 0) terminal.rows = ROWS;
  };
  assume();
  terminal.on('resize', assume);
}
