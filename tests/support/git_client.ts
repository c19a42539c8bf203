/** The `git` program in a folder and a home of its own. */
import assert from "node:assert/strict";
import { join } from "node:path";

export interface GitRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The `git` program with nothing of the machine's settings. */
export class GitClient implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "muster-git-" });
  #clones = 0;

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs `git` in a folder and returns how it ended. */
  async run(args: readonly string[], folder = this.folder, stdin?: Uint8Array): Promise<GitRun> {
    const child = new Deno.Command("git", {
      args: [...args],
      cwd: folder,
      clearEnv: true,
      env: {
        HOME: this.folder,
        PATH: Deno.env.get("PATH") ?? "",
        LC_ALL: "C.UTF-8",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_TERMINAL_PROMPT: "0",
        GIT_AUTHOR_NAME: "Ann",
        GIT_AUTHOR_EMAIL: "ann@example.org",
        GIT_COMMITTER_NAME: "Ann",
        GIT_COMMITTER_EMAIL: "ann@example.org",
      },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (stdin !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(stdin);
      await writer.close();
    }
    const { code, stdout, stderr } = await child.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: text(stdout), stderr: text(stderr) };
  }

  /** Runs `git`, which must succeed; returns its output. */
  async git(args: readonly string[], folder?: string, stdin?: Uint8Array): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, folder, stdin);
    assert.equal(code, 0, `git ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Clones, and checks the clone. */
  async clone(url: string, ...options: readonly string[]): Promise<Clone> {
    const folder = this.path(`clone-${++this.#clones}`);
    const before = options.filter((option) => option.startsWith("protocol."));
    const args = [
      ...before.flatMap((setting) => ["-c", setting]),
      ...[
        "-c",
        "transfer.fsckObjects=true",
        "clone",
        "--quiet",
        ...options.filter((option) => !before.includes(option)),
      ],
    ];
    await this.git([...args, url, folder]);
    const clone = new Clone(this, folder);
    await clone.check();
    return clone;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/** A repository that was cloned. */
export class Clone {
  readonly folder: string;
  readonly #client: GitClient;

  constructor(client: GitClient, folder: string) {
    this.#client = client;
    this.folder = folder;
  }

  /** Runs `git` in it; it must succeed. */
  git(...args: readonly string[]): Promise<string> {
    return this.#client.git(args, this.folder);
  }

  /** Runs `git` in it, which may fail. */
  run(...args: readonly string[]): Promise<GitRun> {
    return this.#client.run(args, this.folder);
  }

  /** Checks every object. */
  async check(): Promise<void> {
    const { code, stdout, stderr } = await this.#client.run(["fsck", "--strict"], this.folder);
    assert.equal(code, 0, stdout + stderr);
  }

  /** Its references and what they point at, a line each. */
  refs(...patterns: readonly string[]): Promise<string> {
    return this.git("for-each-ref", "--format=%(objectname) %(refname)", ...patterns);
  }

  /** The subjects of the commits that a name reaches, the newest first. */
  async log(name = "HEAD"): Promise<string[]> {
    return (await this.git("log", "--format=%s", name)).trim().split("\n");
  }
}
