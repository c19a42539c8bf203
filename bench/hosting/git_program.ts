/** The `git` program, with settings of its own. */
export class GitProgram {
  readonly #home: string;

  /** @param home a folder that the program may write to */
  constructor(home: string) {
    this.#home = home;
  }

  /**
   * Runs the program; returns the milliseconds from its start to its end.
   *
   * @throws Error if it fails
   */
  async run(args: readonly string[], folder = this.#home): Promise<number> {
    const startedAt = performance.now();
    const { success, stderr } = await new Deno.Command("git", {
      args: ["-c", "gc.auto=0", "-c", "maintenance.auto=false", ...args],
      cwd: folder,
      clearEnv: true,
      env: {
        HOME: this.#home,
        PATH: Deno.env.get("PATH") ?? "",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_TERMINAL_PROMPT: "0",
        ...person("AUTHOR"),
        ...person("COMMITTER"),
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (success) return performance.now() - startedAt;
    throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  }

  /**
   * Makes a bare repository of a repository of Fossil, as `git clone` makes one of a well packed
   * repository elsewhere: without a bitmap, which a server has once somebody has collected its garbage.
   */
  async fromFossil(path: string, target: string): Promise<void> {
    const unpacked = `${target}-unpacked`;
    await this.run(["init", "--quiet", "--bare", "--initial-branch=trunk", unpacked]);
    const script = 'fossil export --git "$0" | git -C "$1" fast-import --quiet';
    const { success, stderr } = await new Deno.Command("bash", {
      args: ["-c", script, path, unpacked],
      env: { HOME: this.#home, USER: "bench" },
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    // What was imported has hardly any deltas.
    await this.run(["repack", "-a", "-d", "-f", "--quiet"], unpacked);
    await this.run(["clone", "--quiet", "--bare", "--no-local", unpacked, target]);
    await Deno.remove(unpacked, { recursive: true });
  }

  /** Commits a file of a checkout. */
  async commit(checkout: string, message: string, file: string): Promise<void> {
    await this.run(["add", file], checkout);
    await this.run(["commit", "--quiet", "-m", message], checkout);
  }
}

function person(role: "AUTHOR" | "COMMITTER") {
  return { [`GIT_${role}_NAME`]: "Bench", [`GIT_${role}_EMAIL`]: "bench@example.org" };
}
