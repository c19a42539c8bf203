/**
 * Ticks per second of the processor times in /proc: USER_HZ, which is 100 on every current Linux.
 */
const TICKS_PER_SECOND = 100;

/** The usage of a process. */
export interface ProcessUsage {
  /** User and system time of all its threads, in seconds; exact to 10 ms. */
  readonly cpuSeconds: number;
  /** Current memory (RSS), in bytes. */
  readonly residentBytes: number;
  /** Largest memory so far, in bytes. */
  readonly peakBytes: number;
}

/**
 * Reads a running process's usage from /proc (Linux).
 *
 * `cat` reads it, because the runtime opens these files only with all permissions.
 *
 * @throws Error if there is no such process
 */
export async function processUsage(pid: number): Promise<ProcessUsage> {
  const { stdout } = await new Deno.Command("cat", {
    args: [`/proc/${pid}/stat`, `/proc/${pid}/status`],
    stderr: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  const [resident, peak] = [/^VmRSS:\s+(\d+) kB$/m, /^VmHWM:\s+(\d+) kB$/m]
    .map((line) => line.exec(text)?.[1]);
  if (resident === undefined || peak === undefined) throw new Error(`Process ${pid} is gone`);
  // The second field, the name in parentheses, may contain spaces; utime and stime are 14 and 15.
  const fields = text.slice(text.indexOf(") ") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return {
    cpuSeconds: ticks / TICKS_PER_SECOND,
    residentBytes: Number(resident) * 1024,
    peakBytes: Number(peak) * 1024,
  };
}

/** A process and those that it has started, which run. */
export async function familyOf(pid: number): Promise<readonly number[]> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-o", "pid=", "--ppid", String(pid)],
    stderr: "null",
  }).output();
  const children = new TextDecoder().decode(stdout).trim().split(/\s+/).filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** The total usage of several processes. */
export async function usageOf(pids: readonly number[]): Promise<ProcessUsage> {
  const usages = await Promise.all(pids.map(processUsage));
  const sum = (key: keyof ProcessUsage) => usages.reduce((total, usage) => total + usage[key], 0);
  return {
    cpuSeconds: sum("cpuSeconds"),
    residentBytes: sum("residentBytes"),
    peakBytes: sum("peakBytes"),
  };
}

/**
 * Reads a running process's proportional set size (PSS) in bytes: its own memory, and its share of
 * the memory that it shares with other processes.
 *
 * @throws Error if there is no such process
 */
export async function proportionalBytes(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("cat", {
    args: [`/proc/${pid}/smaps_rollup`],
    stderr: "null",
  }).output();
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(new TextDecoder().decode(stdout))?.[1];
  if (kilobytes === undefined) throw new Error(`Process ${pid} is gone`);
  return Number(kilobytes) * 1024;
}

/** The result of some work, and its cost. */
export interface Measured<Result> {
  readonly result: Result;
  /** Time on the clock. */
  readonly seconds: number;
  /** Processor time of all the server's processes. */
  readonly serverSeconds: number;
  /** Processor time of this process, which plays the clients. */
  readonly clientSeconds: number;
}

/**
 * Does some work and reads how much the server and this process used for it.
 *
 * @param processes the server's process, or its processes
 */
export async function measure<Result>(
  processes: number | readonly number[],
  work: () => Promise<Result>,
): Promise<Measured<Result>> {
  const pids = typeof processes === "number" ? [processes] : processes;
  const usages = () => Promise.all([usageOf(pids), processUsage(Deno.pid)]);
  const [serverBefore, clientBefore] = await usages();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const [server, client] = await usages();
  return {
    result,
    seconds,
    serverSeconds: server.cpuSeconds - serverBefore.cpuSeconds,
    clientSeconds: client.cpuSeconds - clientBefore.cpuSeconds,
  };
}
