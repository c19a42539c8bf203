import { setImmediate } from "node:timers";
import type { PeerNotes } from "../../engines/database/mod.ts";
import { Marks } from "./marks.ts";
import { NodeClient } from "./node_client.ts";
import type { NodeRecord } from "../../kernel/nodes.ts";
import type { Nodes } from "./nodes.ts";

/** Where a node reads what another one tells it. */
export const NOTES_TARGET = "/internal/notes";

/** After how many milliseconds a node that says nothing says that it is there. */
const PULSE_MILLISECONDS = 10_000;

/** After how many milliseconds without a word another answer is asked for. */
const SILENT_MILLISECONDS = 30_000;

/** After how many milliseconds a node is asked again that did not answer. */
const RETRY_MILLISECONDS = 5_000;

/** The answer does not end, so the request goes by `fetch`, as for event streams. */
const AS_STREAM = new Headers({ accept: "text/event-stream" });

export interface NodeNotesOptions {
  readonly nodes: Pick<Nodes, "self" | "all" | "isRunning" | "onLooked">;
  readonly client: Pick<NodeClient, "ask">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What this node reads from another one. */
interface Reading {
  readonly abort: AbortController;
  /** When it last heard of the node, or may ask again. */
  at: number;
  isOver: boolean;
}

/**
 * What nodes tell each other directly. Each node asks each other one once, and reads what it is told
 * from the answer, which does not end. So a note costs neither a request nor a transaction.
 */
export class NodeNotes implements PeerNotes {
  readonly #options: NodeNotesOptions;
  readonly #feeds = new Map<string, NoteFeed>();
  readonly #readings = new Map<string, Reading>();
  readonly #unsubscribe: () => void;
  #listener: (peer: string, text: string) => void = () => {};
  #pulseAt = 0;
  #isClosed = false;

  constructor(options: NodeNotesOptions) {
    this.#options = options;
    this.#unsubscribe = options.nodes.onLooked(() => this.#look());
  }

  get reached(): readonly string[] {
    return [...this.#feeds.keys()];
  }

  tell(peer: string, text: string): boolean {
    return this.#feeds.get(peer)?.tell(text) ?? false;
  }

  listen(listener: (peer: string, text: string) => void): void {
    this.#listener = listener;
  }

  /** The answer to another node that asks what it is told. */
  answer(peer: string): Response {
    if (this.#isClosed) return new Response(null, { status: 503 });
    this.#feeds.get(peer)?.end();
    const feed = new NoteFeed(() => {
      if (this.#feeds.get(peer) === feed) this.#feeds.delete(peer);
    });
    this.#feeds.set(peer, feed);
    // Its head leaves with the first line.
    feed.tell("");
    return new Response(feed.body, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
  }

  /** Ends all answers, those of other nodes too. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    for (const feed of this.#feeds.values()) feed.end();
    for (const { abort } of this.#readings.values()) abort.abort();
  }

  #look(): void {
    const { nodes, clock } = this.#options;
    const now = clock();
    const others = nodes.all().filter(({ name }) => name !== nodes.self && nodes.isRunning(name));
    for (const node of others) this.#keepReading(node, now);
    if (now - this.#pulseAt < PULSE_MILLISECONDS) return;
    this.#pulseAt = now;
    for (const feed of this.#feeds.values()) feed.tell("");
  }

  #keepReading(node: NodeRecord, now: number): void {
    const known = this.#readings.get(node.name);
    if (known !== undefined) {
      const limit = known.isOver ? RETRY_MILLISECONDS : SILENT_MILLISECONDS;
      if (Math.abs(now - known.at) < limit) return;
      known.abort.abort();
      // What does not come from a silent node may not reach it either.
      if (!known.isOver) this.#feeds.get(node.name)?.end();
    }
    const reading = { abort: new AbortController(), at: now, isOver: false };
    this.#readings.set(node.name, reading);
    // A node that does not answer, or no longer, is asked again.
    this.#read(node, reading).catch(() => {}).finally(() => reading.isOver = true);
  }

  async #read(node: NodeRecord, reading: Reading): Promise<void> {
    const { client, clock } = this.#options;
    const { abort: { signal } } = reading;
    const request = { method: "GET", target: NOTES_TARGET, headers: AS_STREAM, signal };
    const response = await client.ask(node, request);
    if (!response.ok) return await response.body?.cancel();
    let rest = "";
    // The signal of the request ends with the head of its answer.
    const texts = response.body?.pipeThrough(new TextDecoderStream(), { signal });
    for await (const part of texts ?? []) {
      reading.at = clock();
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "" && !signal.aborted) this.#listener(node.name, line);
      }
    }
  }
}

/** Most bytes that wait for another node. One that takes them too slowly is told in another way. */
const MAX_WAITING = 4 * 1024 * 1024;

const encoder = new TextEncoder();

/** What another node is told: lines of text in one answer, which it reads as long as both run. */
class NoteFeed {
  /** The body of the answer. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #onEnd: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** What leaves with the next turn of the event loop. */
  #next = "";

  /** @param onEnd called once, when nothing can be told any more */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => this.end(),
    }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING }));
  }

  /** Tells a line, which may be empty; false if that is not possible. */
  tell(line: string): boolean {
    if (this.#controller === null || line.includes("\n")) return false;
    if (this.#next === "") setImmediate(() => this.#flush());
    this.#next += `${line}\n`;
    return true;
  }

  /** Ends the answer. */
  end(): void {
    const controller = this.#controller;
    if (controller === null) return;
    this.#controller = null;
    this.#onEnd();
    try {
      controller.close();
    } catch {
      // The reader has left.
    }
  }

  #flush(): void {
    const bytes = encoder.encode(this.#next);
    this.#next = "";
    const controller = this.#controller;
    if (controller === null) return;
    controller.enqueue(bytes);
    if ((controller.desiredSize ?? 0) <= 0) this.end();
  }
}

/** Keeps the key of marks apart from what else is derived from the same key. */
const PURPOSE = "muster node mark ";

/** What requests from and to other nodes need, and what nodes tell each other. */
export interface NodeLinks {
  readonly marks: Marks;
  readonly client: NodeClient;
  readonly notes: NodeNotes;
}

export interface NodeLinksOptions {
  readonly nodes: Nodes;
  /** All nodes have the same. */
  readonly tokenKey: { mac(purpose: string, text: string): Promise<string> };
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Makes the links to other nodes; null if this server is alone. */
export async function openNodeLinks(options: NodeLinksOptions): Promise<NodeLinks | null> {
  const { nodes, tokenKey, clock } = options;
  const self = nodes.find(nodes.self ?? "");
  if (self === null) return null;
  const marks = new Marks({ key: await tokenKey.mac(PURPOSE, ""), self, clock });
  const client = new NodeClient({ nodes, marks });
  return { marks, client, notes: new NodeNotes({ nodes, client, clock }) };
}
