/** What differs between operating systems and runtimes. */
import process from "node:process";

/** A name of an operating system, as `Deno.build.os` gives it. */
export type System = typeof Deno.build.os;

/** Makes every file that the process creates from now on readable by its owner alone. */
export function restrictNewFiles(system: System = Deno.build.os): void {
  // On Windows files inherit the access list of their folder.
  if (system !== "windows") Deno.umask(0o077);
}

/** The signals that ask the process to end. Windows knows those of the keyboard alone. */
export function endSignals(system: System = Deno.build.os): readonly Deno.Signal[] {
  return system === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGTERM", "SIGINT"];
}

/** The signals that ask the server to read its configuration again; none on Windows. */
export function reloadSignals(system: System = Deno.build.os): readonly Deno.Signal[] {
  return system === "windows" ? [] : ["SIGHUP"];
}

/** Keeps standard error for the commands: older runtimes warn there of their own library. */
export function silenceDeprecations(): void {
  Object.assign(process, { noDeprecation: true });
}

/** A full collection of V8. */
type Collect = (options: {
  readonly type: "major";
  readonly execution: "sync";
  readonly flavor: "last-resort";
}) => void;

/**
 * Gives back the memory that the start used and nobody needs now. V8 alone would keep it until the
 * program has allocated as much again, which takes hours while nobody uses it.
 *
 * It holds the calling thread for 0.1 to 0.3 s, so call it only while nobody waits. Without the flag
 * `--expose-gc` it does nothing.
 */
export function releaseStartMemory(): void {
  const { gc: collect } = globalThis as { gc?: Collect };
  // Other kinds of collection leave the pages of the heap as they are, half empty.
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
