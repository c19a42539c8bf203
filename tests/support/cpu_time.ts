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
