/** How many ids are remembered: more than a gateway sends again. */
const KEPT = 10_000;

/** Finds what has been seen before. */
export class RecentIds {
  readonly #ids = new Set<string>();

  /** True for an id that is new; it is not new the next time. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > KEPT) {
      const [oldest] = this.#ids;
      if (oldest !== undefined) this.#ids.delete(oldest);
    }
    return true;
  }
}
