/**
 * The processor time in milliseconds that `work` takes in this process: what else the machine does at the same time
 * does not count.
 */
export async function cpuMilliseconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
