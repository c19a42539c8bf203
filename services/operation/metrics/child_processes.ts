/** Lists the threads of this process, and reads files in `/proc`: Deno itself may not. */
const LS = "/usr/bin/ls";
const CAT = "/usr/bin/cat";

/** Ticks per second of the times in /proc: USER_HZ, which is 100 on every current Linux. */
const TICKS_PER_SECOND = 100;

/** What the processes use that this one has started. */
export interface ChildFigures {
  /** Those that run now and are this program again: the engines. */
  readonly engines: number;
  /** Their memory in bytes, where memory that processes share is divided among them (PSS). */
  readonly engineBytes: number;
  /** Processor time of all processes that this one has started, those that have ended too. */
  readonly cpuSeconds: number;
}

/** What `/proc/PID/stat` says (proc(5)). */
interface Status {
  readonly pid: number;
  readonly program: string;
  /** Of the process, and of those that it has waited for. */
  readonly ownTicks: number;
  readonly childTicks: number;
}

/** Reads what the processes use that this one has started; null if nobody tells. */
export async function readChildFigures(): Promise<ChildFigures | null> {
  if (Deno.build.os !== "linux") return null;
  const folder = `/proc/${Deno.pid}`;
  const threads = (await run(LS, ["-U", `${folder}/task`]))?.split("\n").filter((id) => id !== "");
  if (threads === undefined || threads.length === 0) return null;
  const lists = threads.map((id) => `${folder}/task/${id}/children`);
  const [own, ...children] = statusesIn(
    await statusOf([Deno.pid, ...idsIn(await run(CAT, lists) ?? "")]),
  );
  if (own === undefined || own.pid !== Deno.pid) return null;
  const engines = children.filter(({ program }) => program === own.program);
  const ticks = children.reduce((sum, one) => sum + one.ownTicks + one.childTicks, own.childTicks);
  return {
    engines: engines.length,
    engineBytes: await memoryOf(engines),
    cpuSeconds: ticks / TICKS_PER_SECOND,
  };
}

async function statusOf(pids: readonly number[]): Promise<string> {
  return await run(CAT, pids.map((pid) => `/proc/${pid}/stat`)) ?? "";
}

function idsIn(text: string): number[] {
  return text.split(/\s+/).filter((id) => id !== "").map(Number);
}

function statusesIn(text: string): Status[] {
  return text.split("\n").flatMap((line) => {
    // The name, in parentheses, may contain both them and spaces.
    const [begin, end] = [line.indexOf("("), line.lastIndexOf(")")];
    if (begin === -1) return [];
    const fields = line.slice(end + 2).split(" ").map(Number);
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    return {
      pid: Number(line.slice(0, begin)),
      program: line.slice(begin + 1, end),
      ownTicks: user + system,
      childTicks: childUser + childSystem,
    };
  });
}

async function memoryOf(processes: readonly Status[]): Promise<number> {
  if (processes.length === 0) return 0;
  const files = processes.map(({ pid }) => `/proc/${pid}/smaps_rollup`);
  return (await run(CAT, files) ?? "").matchAll(/^Pss:\s+(\d+) kB$/gm)
    .reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** What a program writes, also if it cannot read some of the files; null if it cannot run. */
async function run(program: string, args: readonly string[]): Promise<string | null> {
  try {
    const command = new Deno.Command(program, {
      args: [...args],
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    });
    return new TextDecoder().decode((await command.output()).stdout);
  } catch {
    return null;
  }
}
