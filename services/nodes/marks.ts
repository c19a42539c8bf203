import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";

/** The header with the mark of a request from another node. */
export const MARK_HEADER = "X-Muster-Forwarded";

/** How old a mark may be, and how far the clocks of two nodes may differ, in milliseconds. */
const MAX_AGE = 60_000;

/** Longest mark, in characters. */
const MAX_LENGTH = 4096;

/** What a node says about a request that it sends to another one. */
export interface Mark {
  /**
   * `forwarded`: a client's request, with the client's own credential. `internal`: the node's own
   * request, for which the mark is the credential.
   */
  readonly kind: "forwarded" | "internal";
  readonly from: string;
  readonly to: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** The client's address. */
  readonly address: string;
  readonly requestId: string;
  /** Whether the client came over TLS. */
  readonly secure: boolean;
}

/**
 * Why a mark that a node has signed does not count. `stale`: more than a minute ago, or with a clock
 * that differs by as much. `misdirected`: for another node, whose address leads here.
 */
export type RefusedMark = "stale" | "misdirected";

/** What only the sender of a request knows. */
export type MarkContent = Pick<Mark, "kind" | "to" | "address" | "requestId" | "secure">;

/** What a mark holds for: it opens no other request. */
export interface MarkedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
}

export interface MarksOptions {
  /** The secret that all nodes share, for this purpose alone. */
  readonly key: string;
  /** The name of this node. */
  readonly self: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Signs the requests of this node to others, and checks those of others to this one. */
export class Marks {
  readonly #options: MarksOptions;

  constructor(options: MarksOptions) {
    this.#options = options;
  }

  /** The signed mark of a request. */
  sign(content: MarkContent, request: MarkedRequest): string {
    const { self, clock } = this.#options;
    const mark: Mark = { ...content, from: self, time: clock() };
    const payload = Buffer.from(JSON.stringify(mark)).toString("base64url");
    return `${payload}.${this.#mac(payload, request).toString("hex")}`;
  }

  /**
   * Reads the mark of a request.
   *
   * @returns null if no node has signed it for this request
   */
  read(text: string, request: MarkedRequest): Mark | RefusedMark | null {
    if (text.length > MAX_LENGTH) return null;
    const [payload = "", mac = ""] = text.split(".");
    const [given, right] = [Buffer.from(mac, "hex"), this.#mac(payload, request)];
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
    const { self, clock } = this.#options;
    // Only a node can have signed it.
    const mark: Mark = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (mark.to !== self) return "misdirected";
    return Math.abs(clock() - mark.time) > MAX_AGE ? "stale" : mark;
  }

  #mac(payload: string, { method, target }: MarkedRequest): Buffer {
    return createHmac("sha256", this.#options.key).update(`${method} ${target}\n${payload}`)
      .digest();
  }
}
