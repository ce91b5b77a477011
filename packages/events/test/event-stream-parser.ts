/** What a browser would dispatch. */
export interface ParsedEvent {
  id: string;
  name: string;
  data: string;
}

/** Reads an event stream by the letter of WHATWG HTML §9.2.6, bytes in any portions. */
export class EventStreamParser {
  readonly events: ParsedEvent[] = [];
  retryMs: number | null = null;
  readonly #decoder = new TextDecoder();
  #line = '';
  #afterCr = false;
  #data: string[] = [];
  #name = '';
  #lastId = '';

  feed(bytes: Uint8Array): void {
    for (const character of this.#decoder.decode(bytes, { stream: true })) {
      const isLfOfCrLf = character === '\n' && this.#afterCr;
      this.#afterCr = character === '\r';
      if (isLfOfCrLf) continue;
      if (character === '\n' || character === '\r') {
        this.#take(this.#line);
        this.#line = '';
      } else this.#line += character;
    }
  }

  #take(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#lastId = value;
    else if (field === 'retry' && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(): void {
    if (this.#data.length > 0) {
      this.events.push({ id: this.#lastId, name: this.#name || 'message', data: this.#data.join('\n') });
    }
    this.#data = [];
    this.#name = '';
  }
}
