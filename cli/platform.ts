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
