/** The messages of a stream that answers one request (MCP 2026-07-28, and the Events extension). */
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import type { StreamSink } from "../routes/event_streams.ts";

/** Where each message names its subscription. */
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** A message of JSON-RPC. */
export interface StreamMessage {
  readonly jsonrpc: "2.0";
  readonly [member: string]: unknown;
}

/** Writes the messages of one subscription. */
export class StreamMessages {
  readonly #sink: StreamSink<StreamMessage>;
  readonly #id: JSONRPCRequest["id"];

  constructor(sink: StreamSink<StreamMessage>, id: JSONRPCRequest["id"]) {
    this.#sink = sink;
    this.#id = id;
  }

  notify(method: string, params: object): void {
    const _meta = { [SUBSCRIPTION]: this.#id };
    this.#sink.message({ jsonrpc: "2.0", method, params: { ...params, _meta } });
  }

  /** Says that no more comes, and closes the stream. */
  end(): void {
    const result = { resultType: "complete", _meta: { [SUBSCRIPTION]: this.#id } };
    this.#sink.message({ jsonrpc: "2.0", id: this.#id, result });
    this.#sink.end();
  }
}
