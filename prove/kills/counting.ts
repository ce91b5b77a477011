/** `1,2,…,last`: what numbers without a gap look like. */
export function upTo(last: number): string {
  return Array.from({ length: last }, (_, at) => at + 1).join();
}
