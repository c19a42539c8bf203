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

/**
 * The processor time of processes, and of all that they have started: also of those that have
 * ended, if the process waited for them.
 *
 * @returns seconds, exact to 10 ms for each process
 */
export async function familySeconds(pids: readonly number[]): Promise<number> {
  const ticks = (await readOfFamily(pids, "stat")).trim().split("\n").map((line) => {
    const fields = line.slice(line.indexOf(") ") + 2).split(" ");
    // utime, stime, and those of children that were waited for.
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

/**
 * The processor time of the children of a process that have ended, and of theirs.
 *
 * @returns seconds, exact to 10 ms
 */
export async function childrenSeconds(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`] }).output();
  const text = new TextDecoder().decode(stdout);
  const fields = text.slice(text.indexOf(") ") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** The memory of several processes together, in bytes. */
export interface FamilyMemory {
  /** The memory of each (RSS), added up. */
  readonly residentBytes: number;
  /** The same, where memory that processes share counts once, divided among them (PSS). */
  readonly proportionalBytes: number;
  /** The part of that which is in no file: pages of the program depend on who else runs it. */
  readonly anonymousBytes: number;
}

/** Reads the memory of processes, and of all that they have started, from /proc (Linux). */
export async function familyMemory(pids: readonly number[]): Promise<FamilyMemory> {
  const text = await readOfFamily(pids, "smaps_rollup");
  const sum = (key: "Rss" | "Pss" | "Pss_Anon") =>
    text.matchAll(new RegExp(`^${key}:\\s+(\\d+) kB$`, "gm"))
      .reduce((total, [, kilobytes]) => total + Number(kilobytes) * 1024, 0);
  const [residentBytes, proportionalBytes] = [sum("Rss"), sum("Pss")];
  return { residentBytes, proportionalBytes, anonymousBytes: sum("Pss_Anon") };
}

/** The processes that these have started, and those that these have, and so on. */
export async function descendantsOf(pids: readonly number[]): Promise<readonly number[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "pid=,ppid="] }).output();
  const all = new TextDecoder().decode(stdout).trim().split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const descendants: number[] = [];
  let parents = pids;
  while (parents.length > 0) {
    parents = all.filter(([, parent = NaN]) => parents.includes(parent)).map(([pid = NaN]) => pid);
    descendants.push(...parents);
  }
  return descendants;
}

/** The texts of a file in /proc of processes and all that they have started. */
async function readOfFamily(pids: readonly number[], file: string): Promise<string> {
  const { stdout } = await new Deno.Command("cat", {
    args: [...pids, ...await descendantsOf(pids)].map((pid) => `/proc/${pid}/${file}`),
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}

/** The result of some work, and its cost. */
export interface Measured<Result> {
  readonly result: Result;
  /** Time on the clock. */
  readonly seconds: number;
  /** Processor time of all the server's processes, and of those that they started. */
  readonly serverSeconds: number;
  /** Processor time of this process, which plays the clients. */
  readonly clientSeconds: number;
}

/**
 * Does some work and reads how much the server and this process used for it.
 *
 * @param processes the server's process, or several
 */
export async function measure<Result>(
  processes: number | readonly number[],
  work: () => Promise<Result>,
): Promise<Measured<Result>> {
  const pids = typeof processes === "number" ? [processes] : processes;
  const usages = () => Promise.all([familySeconds(pids), processUsage(Deno.pid)]);
  const [serverBefore, clientBefore] = await usages();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const [server, client] = await usages();
  return {
    result,
    seconds,
    serverSeconds: server - serverBefore,
    clientSeconds: client.cpuSeconds - clientBefore.cpuSeconds,
  };
}
