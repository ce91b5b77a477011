/** Waits until something holds, looking often; fails after `limitMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  limitMs = 20_000,
  everyMs = 25,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Sees to it that something keeps holding for `milliseconds`: the proof that a thing does not happen. */
export async function stays(holds: () => boolean | Promise<boolean>, milliseconds = 500): Promise<void> {
  const end = performance.now() + milliseconds;
  do {
    if (!(await holds())) throw new Error(`holds no longer: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  } while (performance.now() < end);
}
