import assert from "node:assert/strict";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import { NodeClient, type NodeRequest } from "../../../../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../../../../services/kernel/nodes.ts";
import { marksOf, nodeRecord } from "../../../http/two_nodes.ts";
import { until } from "../../../support/until.ts";

export const encoder = new TextEncoder();

/** A connection to a node of the test. */
export class Accepted {
  /** What has come. */
  text = "";
  hasEnded = false;
  readonly #conn: Deno.Conn;
  readonly #onRequest: (accepted: Accepted) => void;

  /** @param onRequest is called with each head of a request */
  constructor(conn: Deno.Conn, onRequest: (accepted: Accepted) => void) {
    this.#conn = conn;
    this.#onRequest = onRequest;
    this.#read().catch(() => {}).finally(() => this.hasEnded = true);
  }

  /** Sends bytes. */
  async write(bytes: string | Uint8Array): Promise<void> {
    const all = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
    for (let at = 0; at < all.length;) at += await this.#conn.write(all.subarray(at));
  }

  close(): void {
    try {
      this.#conn.close();
    } catch {
      // The test has closed it already.
    }
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder("latin1");
    let heads = 0;
    for await (const part of this.#conn.readable.values({ preventCancel: true })) {
      this.text += decoder.decode(part);
      for (const count = this.text.split("\r\n\r\n").length - 1; heads < count; heads++) {
        this.#onRequest(this);
      }
    }
  }
}

/** A node that answers what a test writes. */
export interface World {
  readonly client: NodeClient;
  readonly node: NodeRecord;
  /** The connections so far. */
  readonly accepted: readonly Accepted[];
  /** The connection of a request, by its number in the order of their heads, once that is there. */
  arrived(number: number): Promise<Accepted>;
  /** The node no longer runs. */
  stop(): void;
}

/** Runs a test with a client, and a node whose answers the test writes. */
export async function withNode(run: (world: World) => Promise<void>): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Accepted[] = [];
  const requests: Accepted[] = [];
  const note = (connection: Accepted) => void requests.push(connection);
  const accepting = (async () => {
    for await (const conn of listener) accepted.push(new Accepted(conn, note));
  })();
  let isRunning = true;
  let look = () => {};
  const nodes = {
    isRunning: () => isRunning,
    onLooked(listener: () => void) {
      look = listener;
      return () => {};
    },
  };
  const client = new NodeClient({ nodes, marks: marksOf("front") });
  try {
    await run({
      client,
      node: nodeRecord("far", `http://127.0.0.1:${listener.addr.port}`),
      accepted,
      async arrived(number) {
        await until(() => requests.length >= number);
        return requests[number - 1] ?? assert.fail();
      },
      stop() {
        isRunning = false;
        look();
      },
    });
  } finally {
    client.close();
    listener.close();
    await accepting;
    for (const connection of accepted) connection.close();
  }
}

export function request(more: Partial<NodeRequest> = {}): NodeRequest {
  return {
    method: "GET",
    target: "/x",
    host: "a.example",
    mark: { kind: "forwarded", address: "192.0.2.1", requestId: "id", secure: false },
    caller: () => ({ principal: OPERATOR, address: null }),
    ...more,
  };
}

export const EMPTY = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
