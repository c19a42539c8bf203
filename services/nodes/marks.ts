import { Buffer } from "node:buffer";
import { isSameCode, Mac } from "./mac.ts";
import type { NodeRecord } from "./nodes.ts";
import { type PassContent, Passes } from "./passes.ts";
import { UsedNumbers } from "./used_numbers.ts";

/** The header with the mark of a request from another node. */
export const MARK_HEADER = "X-Muster-Forwarded";

/** In the answer to a node that asks for it: this one reads passes. */
export const PASSES_HEADER = "X-Muster-Passes";

/** How old a mark may be, and how far the clocks of two nodes may differ, in milliseconds. */
const MAX_AGE = 60_000;

/** Longest mark, in characters: that of the longest target which an HTTP server reads. */
const MAX_LENGTH = 262_144;

/** Most senders whose numbers are remembered; one that starts again counts as another. */
const MAX_SENDERS = 256;

/** What a node says about a request that it sends to another one. */
export interface Mark {
  /**
   * `forwarded`: a client's request, with the client's own credential. `internal`: the node's own
   * request, for which the mark is the credential.
   */
  readonly kind: "forwarded" | "internal";
  readonly from: string;
  /** When the sender started, in Unix milliseconds. */
  readonly fromStarted: number;
  /** Counts the sender's requests since its start. */
  readonly number: number;
  readonly to: string;
  /** When the receiver started: it remembers no numbers from before. */
  readonly toStarted: number;
  /** The client's address. */
  readonly address: string;
  readonly requestId: string;
  /** Whether the client came over TLS. */
  readonly secure: boolean;
  /** The target of the client's request, if it comes with another one. */
  readonly target?: string | undefined;
  /** Whether the sender keeps the client's connection, and need not be told whose request it is. */
  readonly kept?: boolean | undefined;
  /** Whether the sender asks if the receiver reads passes ({@linkcode Marks.pass}). */
  readonly passes?: boolean | undefined;
}

/** A mark with when it was signed, in Unix milliseconds. */
interface SignedMark extends Mark {
  readonly time: number;
}

/**
 * Why a mark that a node has signed does not count. `stale`: more than a minute ago, or with a clock
 * that differs by as much. `misdirected`: for another node, whose address leads here. `restarted`:
 * this node has started again since. `repeated`: it has come before.
 */
export type RefusedMark = "stale" | "misdirected" | "restarted" | "repeated";

/** What only the sender of a request knows. */
export type MarkContent = Pick<
  Mark,
  "kind" | "address" | "requestId" | "secure" | "target" | "kept" | "passes"
>;

/** What a mark holds for: it opens no other request. */
export interface MarkedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** Those with a credential count. */
  readonly headers: Pick<Headers, "get">;
}

export interface MarksOptions {
  /** The secret that all nodes share, for this purpose alone; for a {@linkcode Mac}. */
  readonly key: string;
  /** This node. */
  readonly self: Pick<NodeRecord, "name" | "startedAt">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Signs the requests of this node to others, and checks those of others to this one. A mark holds
 * once, so that who reads it on the way cannot send it again.
 */
export class Marks {
  readonly #options: MarksOptions;
  readonly #mac: Mac;
  readonly #passes: Passes;
  /** By the sender and its start, the oldest first. */
  readonly #used = new Map<string, UsedNumbers>();
  #lastNumber = 0;

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#mac = new Mac(options.key);
    this.#passes = new Passes({ ...options, mac: this.#mac });
  }

  /** The signed mark of a request to another node. */
  sign(
    content: MarkContent,
    to: Pick<NodeRecord, "name" | "startedAt">,
    request: MarkedRequest,
  ): string {
    const { self, clock } = this.#options;
    const { kind, address, requestId, secure, target, kept, passes } = content;
    const mark: SignedMark = {
      kind,
      address,
      requestId,
      secure,
      target,
      kept,
      passes,
      from: self.name,
      fromStarted: self.startedAt,
      number: ++this.#lastNumber,
      to: to.name,
      toStarted: to.startedAt,
      time: clock(),
    };
    const payload = Buffer.from(JSON.stringify(mark)).toString("base64url");
    return `${payload}.${this.#macOf(payload, request)}`;
  }

  /**
   * A short mark of a client's request, for a node that reads it: it costs a tenth, and holds for any
   * request.
   */
  pass(content: PassContent, to: Pick<NodeRecord, "name" | "startedAt">): string {
    return this.#passes.write(content, to, ++this.#lastNumber);
  }

  /**
   * Reads the mark of a request, which then does not hold any more.
   *
   * @returns null if no node has signed it for this request
   */
  read(text: string, request: MarkedRequest): Mark | RefusedMark | null {
    if (text.length > MAX_LENGTH) return null;
    const mark = text.includes(" ") ? this.#passes.read(text) : this.#readSigned(text, request);
    if (mark === null || typeof mark === "string") return mark;
    const { self } = this.#options;
    if (mark.to !== self.name) return "misdirected";
    if (mark.toStarted !== self.startedAt) return "restarted";
    return this.#usedBy(mark).add(mark.number) ? mark : "repeated";
  }

  #readSigned(text: string, request: MarkedRequest): Mark | "stale" | null {
    const [payload = "", mac = ""] = text.split(".");
    if (!isSameCode(mac, this.#macOf(payload, request))) return null;
    // Only a node can have signed it.
    const mark: SignedMark = JSON.parse(Buffer.from(payload, "base64url").toString());
    return Math.abs(this.#options.clock() - mark.time) > MAX_AGE ? "stale" : mark;
  }

  #usedBy({ from, fromStarted }: Mark): UsedNumbers {
    const sender = `${from} ${fromStarted}`;
    const known = this.#used.get(sender);
    if (known !== undefined) return known;
    const used = new UsedNumbers();
    this.#used.set(sender, used);
    const [oldest = sender] = this.#used.keys();
    if (this.#used.size > MAX_SENDERS) this.#used.delete(oldest);
    return used;
  }

  #macOf(payload: string, { method, target, headers }: MarkedRequest): string {
    // None of them can contain a line break.
    const credential = `${headers.get("authorization") ?? ""}\n${headers.get("cookie") ?? ""}`;
    return this.#mac.of(`${method} ${target}\n${credential}\n${payload}`);
  }
}
