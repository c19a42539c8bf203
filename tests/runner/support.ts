/** Jobs in folders of their own, and what came of them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  accountOfJobs,
  type Ended,
  execute,
  findBwrap,
  findPlain,
  type Missing,
  Output,
  type Plan,
  type Sandbox,
} from "../../runner/executor/mod.ts";
import type { LogLine } from "../../services/work/runs/assignment.ts";

/** What a job did. */
export interface Done extends Ended {
  readonly lines: readonly LogLine[];
  /** What it printed, by stream, without what the runner said. */
  readonly out: string;
  readonly err: string;
  readonly notes: string;
  readonly folder: string;
}

export interface JobOptions extends Partial<Plan> {
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal;
  /** Is called with each line as it comes. */
  readonly onLine?: (line: LogLine) => Promise<void> | void;
  /** Files of the checkout. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A folder for jobs that the account of jobs may enter. */
export async function makeJobFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "muster-job-" });
  await Deno.chmod(folder, 0o755);
  for (const name of ["checkout", "home"]) await Deno.mkdir(join(folder, name));
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(join(folder, "checkout", name, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, "checkout", name), text);
  }
  const account = accountOfJobs();
  if (account !== null) await chown(folder, account);
  return folder;
}

async function chown(path: string, account: { uid: number; gid: number }): Promise<void> {
  await Deno.chown(path, account.uid, account.gid);
  const { isDirectory } = await Deno.lstat(path);
  if (!isDirectory) return;
  for await (const { name } of Deno.readDir(path)) await chown(join(path, name), account);
}

/** Runs a job, and removes its folder unless `use` needs it. */
export async function runJob(
  options: JobOptions,
  use: (done: Done) => Promise<void> | void = () => {},
): Promise<Done> {
  const { sandbox, files, signal = new AbortController().signal, onLine, ...plan } = options;
  const folder = await makeJobFolder(files);
  try {
    const lines: LogLine[] = [];
    const limits = { memory_mb: 512, processes: 64, disk_mb: 64, output_mb: 4, ...plan.limits };
    const output = new Output({
      secrets: Object.values(plan.secrets ?? {}),
      limitBytes: limits.output_mb * 1024 * 1024,
      write: (line) => {
        lines.push(line);
        return onLine?.(line);
      },
    });
    const ended = await execute({
      plan: {
        commands: [],
        shell: "sh",
        timeout_seconds: 60,
        network: false,
        image: null,
        env: {},
        secrets: {},
        ...plan,
        limits,
      },
      places: { checkout: join(folder, "checkout"), home: join(folder, "home") },
      name: `test-${crypto.randomUUID()}`,
      sandbox,
      output,
      signal,
    });
    await output.note(ended.summary);
    const textOf = (stream: LogLine["stream"]) =>
      lines.filter((line) => line.stream === stream).map(({ text }) => text).join("\n");
    const done = {
      ...ended,
      lines,
      out: textOf("out"),
      err: textOf("err"),
      notes: textOf("note"),
      folder,
    };
    await use(done);
    return done;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Bubblewrap, or why it is not there. */
export function bwrap(): Promise<Sandbox | Missing> {
  return findBwrap({ account: accountOfJobs(), shared: [] });
}

/** No isolation. */
export async function plain(): Promise<Sandbox> {
  const found = await findPlain(accountOfJobs());
  assert.ok(!("why" in found), "why" in found ? found.why : "");
  return found;
}
