import { childrenSeconds } from "../process_usage.ts";

/** `git http-backend` behind a small server, with the repositories of a folder. */
export class GitBackend implements AsyncDisposable {
  /** The URL of the folder. */
  readonly url: string;
  readonly #process: Deno.ChildProcess;

  private constructor(url: string, process: Deno.ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** @param home the folder of Git's settings */
  static async start(root: string, home: string): Promise<GitBackend> {
    const script = new URL("./git_backend_program.ts", import.meta.url).pathname;
    const permissions = ["--allow-net", "--allow-run", "--allow-env"];
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", ...permissions, script, root],
      env: { HOME: home },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    reader.cancel();
    return new GitBackend(`http://127.0.0.1:${new TextDecoder().decode(value)}`, process);
  }

  /** What Git has used so far, without the server in front of it. */
  cpuSeconds(): Promise<number> {
    return childrenSeconds(this.#process.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }
}
