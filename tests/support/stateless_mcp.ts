/** Requests of MCP's stateless revision, 2026-07-28, and the streams that answer some of them. */
import assert from "node:assert/strict";
import { within } from "./until.ts";

export const STATELESS = "2026-07-28";

/** A message of JSON-RPC that a server sends. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly result?: Readonly<Record<string, unknown>>;
}

/** A request as a client of this revision sends it. */
export function statelessRequest(
  url: string,
  { token, method, params = {}, capabilities = {} }: {
    readonly token: string;
    readonly method: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly capabilities?: object;
  },
): Request {
  const name = params["name"];
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  return new Request(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": STATELESS,
      "mcp-method": method,
      ...name === undefined ? {} : { "mcp-name": String(name) },
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: { ...params, _meta } }),
  });
}

/** Reads the messages of a stream one after the other. */
export class MessageStream implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";

  constructor(response: Response) {
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * The next message; null once the stream has ended.
   *
   * @throws Error if neither comes in time
   */
  async next(): Promise<Message | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const frame = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const data = frame.split("\n").find((line) => line.startsWith("data: "));
        if (data !== undefined) return JSON.parse(data.slice("data: ".length));
        continue;
      }
      const { done, value } = await within(this.#reader.read(), () => "More of the stream");
      if (done) return null;
      this.#text += value;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}
