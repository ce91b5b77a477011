/** Waits until something holds, looking often; fails after `limitMs`. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
