import { freePort } from "../../tests/support/free_port.ts";
import type { FossilProgram } from "../fossil/program.ts";
import { untilListening } from "../servers/server.ts";

const PASSWORD = "secret";

/** `fossil server` with one repository. */
export class FossilServer implements AsyncDisposable {
  /** The URL of the repository, with the login of a user who may push. */
  readonly url: string;
  readonly #process: Deno.ChildProcess;

  private constructor(url: string, process: Deno.ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** @param user the name of a new user who may push. */
  static async start(
    program: FossilProgram,
    repository: string,
    user: string,
  ): Promise<FossilServer> {
    await program.run(["user", "new", user, "", PASSWORD, "-R", repository]);
    await program.run(["user", "capabilities", user, "s", "-R", repository]);
    const port = freePort();
    const process = new Deno.Command("fossil", {
      args: ["server", "--localhost", "--port", String(port), repository],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await untilListening({ hostname: "127.0.0.1", port });
    return new FossilServer(`http://${user}:${PASSWORD}@127.0.0.1:${port}/`, process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.status;
  }
}
