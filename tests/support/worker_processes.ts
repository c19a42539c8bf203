/** The processes in which muster reads what strangers wrote, as `ps` shows them. */
import { asked } from "./until.ts";

/** The ids of a program's processes that are workers. */
export async function workerProcessesOf(pid: number): Promise<number[]> {
  const lines = (await ps("--ppid", `${pid}`, "-o", "pid=,args=")).split("\n");
  return lines.filter((line) => /run-worker|process_worker/.test(line)).map((line) =>
    Number.parseInt(line)
  );
}

/** Stops a process; returns when none of its threads runs any more. */
export async function stopProcess(pid: number): Promise<void> {
  Deno.kill(pid, "SIGSTOP");
  const states = async () => (await ps("-L", "-o", "s=", "-p", `${pid}`)).split(/\s+/);
  await asked(states, (all) => all.every((state) => state === "T"));
}

/** Returns when a process that was killed has ended. */
export async function goneProcess(pid: number): Promise<void> {
  await asked(() => ps("-o", "s=", "-p", `${pid}`), (state) => state === "" || state === "Z");
}

async function ps(...args: readonly string[]): Promise<string> {
  const { stdout } = await new Deno.Command("ps", { args: [...args] }).output();
  return new TextDecoder().decode(stdout).trim();
}
