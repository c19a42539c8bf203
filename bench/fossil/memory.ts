import { delay } from "../parallel.ts";
import { type ProcessUsage, processUsage } from "../process_usage.ts";
import type { Figure } from "../scenario.ts";
import { musterCommand } from "./program.ts";
import { fossilScenario } from "./scenario.ts";
import type { Workbench } from "./workbench.ts";

/** Largest memory of an import, in MB. */
const AIM_MB = 200;
/** Time between two readings of the process's usage, in milliseconds. */
const LOOK_MS = 100;

export const IMPORT_MEMORY = fossilScenario(
  "fossil-import-memory",
  "memory of `muster fossil import`, of what `muster fossil export` gives",
  async (source, bench) => {
    const stream = bench.path("stream");
    await runMuster(["fossil", "export", await bench.copy(source, "memory.fossil")], {
      stdout: stream,
    });
    const { peakBytes, cpuSeconds } = await watchImport(bench, stream);
    return [
      { name: "stream", value: (await Deno.stat(stream)).size / 1e6, unit: "MB" },
      { name: "import: largest memory", value: peakBytes / 1e6, unit: "MB", aim: AIM_MB },
      { name: "import: processor time", value: cpuSeconds, unit: "s" },
    ] satisfies Figure[];
  },
);

/** The usage of an import at the last reading, at most {@link LOOK_MS} before its end. */
async function watchImport(bench: Workbench, stream: string): Promise<ProcessUsage> {
  let usage: ProcessUsage | null = null;
  await runMuster(["fossil", "import", bench.path("imported in memory.fossil")], {
    stdin: stream,
    look: async (pid) => {
      usage = await processUsage(pid);
    },
  });
  if (usage === null) throw new Error("The import ended before it was looked at");
  return usage;
}

interface RunOptions {
  /** File that it reads. */
  readonly stdin?: string;
  /** File that it writes. */
  readonly stdout?: string;
  /** Called repeatedly while it runs. */
  readonly look?: (pid: number) => Promise<void>;
}

/** @throws Error if it fails */
async function runMuster(args: readonly string[], { stdin, stdout, look }: RunOptions) {
  const [command, ...words] = musterCommand(args);
  const process = new Deno.Command(command, {
    args: words,
    stdin: stdin === undefined ? "null" : "piped",
    stdout: stdout === undefined ? "null" : "piped",
    stderr: "null",
  }).spawn();
  let isRunning = true;
  const ended = process.status.finally(() => isRunning = false);
  const sent = stdin === undefined
    ? Promise.resolve()
    : Deno.open(stdin).then((file) => file.readable.pipeTo(process.stdin));
  const received = stdout === undefined
    ? Promise.resolve()
    : Deno.create(stdout).then((file) => process.stdout.pipeTo(file.writable));
  while (isRunning && look !== undefined) {
    await look(process.pid).catch(() => {});
    await Promise.race([ended, delay(LOOK_MS)]);
  }
  const [{ success }] = await Promise.all([ended, sent, received]);
  if (!success) throw new Error(`muster ${args.join(" ")} failed`);
}
