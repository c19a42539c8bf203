import process from "node:process";

/**
 * How long this thread computes to do some work, in milliseconds, in steps of about ten. Time in
 * which other threads have the core does not count.
 */
export function cpuTimeOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * The same for work that waits in between. What else this thread does meanwhile counts too.
 */
export async function cpuTimeDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
