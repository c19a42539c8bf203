import { within } from "./until.ts";

/** A process that answers each line of standard input with a line of JSON. */
export class LineClient<Answer> {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;
  readonly #errors: Promise<string>;
  #rest = "";

  constructor(
    command: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#process = new Deno.Command(command, {
      args: [...args],
      env: environment,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.#output = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#errors = new Response(this.#process.stderr).text();
  }

  async write(request: unknown): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
  }

  /**
   * Sends a line, and gives the answer.
   *
   * @throws Error if the process ends first, or the answer does not come in time
   */
  async ask(request: unknown): Promise<Answer> {
    await this.write(request);
    while (!this.#rest.includes("\n")) {
      const { value, done } = await within(
        this.#output.read(),
        () => `The answer to ${JSON.stringify(request)}`,
      );
      if (done) throw new Error(`The client ended: ${(await this.#errors).slice(-2000)}`);
      this.#rest += value;
    }
    const end = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return JSON.parse(line);
  }

  async close(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#output.cancel().catch(() => {});
    await this.#process.status;
    await this.#errors;
  }
}
