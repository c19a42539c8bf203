/** `muster mcp` as a client starts it: JSON-RPC on its standard input and output. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { StdioOptions } from "../../mcp/stdio/mod.ts";
import { cleanEnvironment, musterCommand } from "./program.ts";
import { within } from "./until.ts";

/** The members of results that tests look at. */
export interface RpcResult {
  readonly protocolVersion?: string;
  readonly instructions?: string;
  readonly capabilities?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly content?: readonly { readonly text: string }[];
  readonly tools?: readonly { readonly name: string }[];
}

/** An answer of JSON-RPC. */
export interface RpcAnswer {
  readonly jsonrpc: string;
  readonly id: string | number | null;
  readonly result?: RpcResult;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface StdioMcpOptions {
  /** The working folder; its data are in `data`. */
  readonly folder: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The options of `serveStdio` that remember nothing and tell nobody. */
export const FORGETFUL: Pick<StdioOptions, "memory" | "warn"> = {
  memory: { read: () => null, keep: () => {} },
  warn: () => {},
};

/** A running `muster mcp`. */
export class StdioMcp implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<unknown, (answer: RpcAnswer) => void>();
  readonly #told = new Map<string, () => void>();
  readonly #reading: Promise<void>;
  readonly #errors: Promise<string>;
  /** Every line of standard output. */
  readonly lines: string[] = [];
  #next = 1;

  constructor(options: StdioMcpOptions) {
    const { folder, args = [], environment = {} } = options;
    this.#process = musterCommand(["mcp", ...args], {
      cwd: folder,
      clearEnv: true,
      env: cleanEnvironment({
        XDG_CACHE_HOME: join(folder, "cache"),
        XDG_STATE_HOME: join(folder, "cache"),
        ...environment,
      }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.#errors = new Response(this.#process.stderr).text();
    this.#reading = this.#read();
  }

  /** Sends a request and gives its answer. */
  request(method: string, params?: unknown, id: string | number = this.#next++) {
    const { promise, resolve } = Promise.withResolvers<RpcAnswer>();
    this.#waiting.set(id, resolve);
    const request = { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
    const answer = this.send(request).then(() => promise);
    return within(answer, () => `The answer to ${method}`);
  }

  /** Opens as a client of a revision does. */
  async initialize(protocolVersion = "2025-11-25"): Promise<RpcAnswer> {
    const clientInfo = { name: "test", version: "1" };
    const answer = await this.request("initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo,
    });
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answer;
  }

  /** Calls a tool, which must succeed, and gives the first text. */
  async call(name: string, input: Record<string, unknown> = {}): Promise<string> {
    const { result, error } = await this.request("tools/call", { name, arguments: input });
    assert.equal(error, undefined, error?.message);
    const text = result?.content?.[0]?.text ?? "";
    assert.equal(result?.isError, false, text);
    return text;
  }

  /** Sends a line. */
  async send(message: unknown): Promise<void> {
    const line = typeof message === "string" ? message : JSON.stringify(message);
    await this.#input.write(new TextEncoder().encode(`${line}\n`));
  }

  /** Resolves with the answer to a request that was sent as a line. */
  answerTo(id: string | number | null): Promise<RpcAnswer> {
    const { promise, resolve } = Promise.withResolvers<RpcAnswer>();
    this.#waiting.set(id, resolve);
    return within(promise, () => `The answer with the id ${id}`);
  }

  /** Resolves with the next notification of a method. */
  told(method: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#told.set(method, resolve);
    return within(promise, () => `The notification ${method}`);
  }

  /** Closes its input and waits for its end. */
  async end(): Promise<{ readonly code: number; readonly stderr: string }> {
    await this.#input.close().catch(() => {});
    const { code } = await this.#process.status;
    await this.#reading;
    return { code, stderr: await this.#errors };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        this.lines.push(line);
        const message: RpcAnswer & { readonly method?: string } = JSON.parse(line);
        if (message.method === undefined) this.#waiting.get(message.id)?.(message);
        else this.#told.get(message.method)?.();
      }
    }
    assert.equal(rest, "", "Every line ends");
  }
}
