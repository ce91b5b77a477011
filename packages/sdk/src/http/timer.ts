/** Longest time of one timer in milliseconds: what asks for more would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Calls back after so many milliseconds, however many; never after Infinity.
 * @returns the function that ends it
 */
export function after(milliseconds: number, callback: () => void): () => void {
  if (milliseconds === Number.POSITIVE_INFINITY) return () => undefined;
  const ends = performance.now() + milliseconds;
  let timer: ReturnType<typeof setTimeout>;
  const arm = () => {
    const left = Math.max(0, ends - performance.now());
    timer = left > LONGEST_MS ? setTimeout(arm, LONGEST_MS) : setTimeout(callback, left);
  };
  arm();
  return () => clearTimeout(timer);
}

/**
 * A limit in seconds, as milliseconds.
 * @throws {TypeError} where it is not more than 0
 */
export function limitMs(name: string, seconds: number): number {
  if (!(seconds > 0)) throw new TypeError(`${name} must be more than 0`);
  return seconds * 1_000;
}
