import { V8_FLAGS } from "../../scripts/v8_flags.ts";
import { namedExecutable } from "../../tests/support/executable.ts";
import { median } from "../statistics.ts";

/** Options of a run. */
interface RunOptions {
  /** The folder in which it starts. */
  readonly folder?: string;
  /** File that it reads. */
  readonly stdin?: string;
  /** File that it writes. */
  readonly stdout?: string;
}

/** The `fossil` program, with a separate home so that no setting of the machine matters. */
export class FossilProgram {
  /** The user of its artifacts. */
  readonly user = "checkouts";
  readonly #home: string;

  /** @param home a folder that the program may write to. */
  constructor(home: string) {
    this.#home = home;
  }

  /**
   * Runs the program; returns the milliseconds from its start to its end.
   *
   * @throws Error if it fails
   */
  async run(args: readonly string[], options: RunOptions = {}): Promise<number> {
    const { folder = this.#home, stdin, stdout } = options;
    const startedAt = performance.now();
    const process = new Deno.Command("fossil", {
      args: [...args],
      cwd: folder,
      clearEnv: true,
      env: { HOME: this.#home, USER: this.user, PATH: Deno.env.get("PATH") ?? "" },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: stdout === undefined ? "null" : "piped",
      stderr: "piped",
    }).spawn();
    const sent = stdin === undefined
      ? Promise.resolve()
      : Deno.open(stdin).then((file) => file.readable.pipeTo(process.stdin));
    const received = stdout === undefined
      ? Promise.resolve()
      : Deno.create(stdout).then((file) => process.stdout.pipeTo(file.writable));
    const [{ success }, problem] = await Promise.all([
      process.status,
      new Response(process.stderr).text(),
      sent,
      received,
    ]);
    if (success) return performance.now() - startedAt;
    throw new Error(`fossil ${args.join(" ")}: ${problem}`);
  }

  /** Runs the program several times; returns the median of the milliseconds. */
  async time(
    times: number,
    args: readonly string[],
    folder?: string,
    before: (round: number) => void = () => {},
  ): Promise<number> {
    const all: number[] = [];
    for (let round = 0; round < times; round++) {
      before(round);
      all.push(await this.run(args, folder === undefined ? {} : { folder }));
    }
    return median(all);
  }
}

/**
 * The words that run muster's command line: the executable that `MUSTER_EXECUTABLE` names, or the
 * tree with the flags of the task `start`.
 */
export function musterCommand(args: readonly string[]): [string, ...string[]] {
  const executable = namedExecutable();
  if (executable !== undefined) return [executable, ...args];
  return [Deno.execPath(), "run", "--quiet", V8_FLAGS, "--permission-set", "main.ts", ...args];
}

/**
 * Runs muster's own command line several times, with the executable that `MUSTER_EXECUTABLE` names
 * or the tree; returns the median of the milliseconds from its start to its end.
 *
 * @throws Error if it fails
 */
export async function timeMuster(times: number, args: readonly string[]): Promise<number> {
  const [command, ...words] = musterCommand(args);
  const all: number[] = [];
  for (let round = 0; round < times; round++) {
    const startedAt = performance.now();
    const { success, stderr } = await new Deno.Command(command, {
      args: words,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(`muster ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    all.push(performance.now() - startedAt);
  }
  return median(all);
}

/** Whether the program is installed. */
export function hasFossil(): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(`${folder}/fossil`).isFile;
    } catch {
      return false;
    }
  });
}
