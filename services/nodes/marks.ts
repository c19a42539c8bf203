import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { isSameCode, Mac } from "./mac.ts";
import type { NodeRecord } from "./nodes.ts";
import { BodySigner, BodyVerifier } from "./signed_body.ts";

/** The header with the mark of a request from another node. */
export const MARK_HEADER = "X-Muster-Forwarded";

/** How old a mark may be, and how far the clocks of two nodes may differ, in milliseconds. */
const MAX_AGE = 60_000;

/** Longest mark, in characters: that of the longest target which an HTTP server reads. */
const MAX_LENGTH = 262_144;

/** Nonces of one sender that are remembered, by default. */
const REMEMBERED = 32_768;

/** Most senders whose nonces are remembered. */
const MAX_SENDERS = 64;

/** What a node says about a request that it sends to another one. */
export interface Mark {
  /**
   * `forwarded`: a client's request, with the client's own credential. `internal`: the node's own
   * request, for which the mark is the credential.
   */
  readonly kind: "forwarded" | "internal";
  readonly from: string;
  readonly to: string;
  /** When the receiver started: it remembers no nonces from before. */
  readonly toStarted: number;
  /** When it was signed, in Unix milliseconds. */
  readonly time: number;
  /** No other mark of the sender has it. */
  readonly nonce: string;
  /** The client's address. */
  readonly address: string;
  readonly requestId: string;
  /** Whether the client came over TLS. */
  readonly secure: boolean;
  /** The target of the client's request, if it comes with another one. */
  readonly target?: string | undefined;
  /** Whether the sender keeps the client's connection, and need not be told whose request it is. */
  readonly kept?: boolean | undefined;
}

/**
 * Why a mark that a node has signed does not count. `stale`: more than a minute ago, or with a clock
 * that differs by as much. `misdirected`: for another node, whose address leads here. `restarted`:
 * this node has started again since. `repeated`: it has come before, or may have.
 */
export type RefusedMark = "stale" | "misdirected" | "restarted" | "repeated";

/** What only the sender of a request knows. */
export type MarkContent = Pick<
  Mark,
  "kind" | "address" | "requestId" | "secure" | "target" | "kept"
>;

/** What a mark holds for: it opens no other request. */
export interface MarkedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** Those with a credential count. */
  readonly headers: Pick<Headers, "get">;
}

/** A mark as it is sent, and what signs the body that follows it. */
export interface Signed {
  readonly header: string;
  readonly body: BodySigner;
}

/** A mark that holds, and what verifies the body that follows it. */
export interface Verified {
  readonly mark: Mark;
  readonly body: BodyVerifier;
}

export interface MarksOptions {
  /** The secret that all nodes share, for this purpose alone; for a {@linkcode Mac}. */
  readonly key: string;
  /** This node. */
  readonly self: Pick<NodeRecord, "name" | "startedAt">;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Nonces of one sender that are remembered: so many at least, and at most twice as many. */
  readonly remembered?: number;
}

/**
 * Signs the requests of this node to others, and verifies those of others to this one. A mark holds
 * once, so a copy that somebody took on the way is refused. README.md has the format.
 */
export class Marks {
  readonly #options: MarksOptions;
  readonly #mac: Mac;
  /** By the sender. */
  readonly #seen = new Map<string, SeenNonces>();

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#mac = new Mac(options.key);
  }

  /** Signs a request to another node. */
  sign(
    { kind, address, requestId, secure, target, kept }: MarkContent,
    to: Pick<NodeRecord, "name" | "startedAt">,
    request: MarkedRequest,
  ): Signed {
    const { self, clock } = this.#options;
    const mark: Mark = {
      kind,
      from: self.name,
      to: to.name,
      toStarted: to.startedAt,
      time: clock(),
      nonce: crypto.randomUUID(),
      address,
      requestId,
      secure,
      target,
      kept,
    };
    const payload = Buffer.from(JSON.stringify(mark)).toString("base64url");
    const code = this.#codeOf(payload, request);
    return { header: `${payload}.${code}`, body: new BodySigner(this.#mac, code) };
  }

  /**
   * Reads the mark of a request, which then does not hold any more.
   *
   * @returns null if no node has signed it for this request
   */
  read(text: string, request: MarkedRequest): Verified | RefusedMark | null {
    if (text.length > MAX_LENGTH) return null;
    const [payload = "", code = ""] = text.split(".");
    if (!isSameCode(code, this.#codeOf(payload, request))) return null;
    // Only a node can have signed it.
    const mark: Mark = JSON.parse(Buffer.from(payload, "base64url").toString());
    const { self, clock } = this.#options;
    const now = clock();
    if (Math.abs(now - mark.time) > MAX_AGE) return "stale";
    if (mark.to !== self.name) return "misdirected";
    if (mark.toStarted !== self.startedAt) return "restarted";
    if (this.#seenOf(mark.from, now)?.add(mark) !== true) return "repeated";
    return { mark, body: new BodyVerifier(this.#mac, code) };
  }

  /** Null if there are too many senders. */
  #seenOf(sender: string, now: number): SeenNonces | null {
    const known = this.#seen.get(sender);
    if (known !== undefined) return known;
    if (this.#seen.size >= MAX_SENDERS) {
      for (const [other, { newest }] of this.#seen) {
        if (newest < now - 2 * MAX_AGE) this.#seen.delete(other);
      }
      if (this.#seen.size >= MAX_SENDERS) return null;
    }
    const seen = new SeenNonces(this.#options.remembered ?? REMEMBERED);
    this.#seen.set(sender, seen);
    return seen;
  }

  #codeOf(payload: string, { method, target, headers }: MarkedRequest): string {
    // None of them can contain a line break.
    const credential = `${headers.get("authorization") ?? ""}\n${headers.get("cookie") ?? ""}`;
    return this.#mac.of(`request\n${method}\n${target}\n${hash("sha256", credential)}\n${payload}`);
  }
}

/**
 * Nonces of one sender, in two generations. When the older one is forgotten, no mark counts any more
 * that is not younger than all of it, by the clock of the sender.
 */
class SeenNonces {
  #young = new Set<string>();
  #old = new Set<string>();
  #newest = -Infinity;
  #newestOfOld = -Infinity;
  #forgotten = -Infinity;
  readonly #remembered: number;

  /** @param remembered how many a generation has */
  constructor(remembered: number) {
    this.#remembered = remembered;
  }

  /** The time of the newest mark. */
  get newest(): number {
    return this.#newest;
  }

  /** Remembers a nonce; false if it may have come before. */
  add({ nonce, time }: Pick<Mark, "nonce" | "time">): boolean {
    if (time <= this.#forgotten || this.#young.has(nonce) || this.#old.has(nonce)) return false;
    if (this.#young.size >= this.#remembered) {
      this.#forgotten = this.#newestOfOld;
      this.#newestOfOld = this.#newest;
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(nonce);
    this.#newest = Math.max(this.#newest, time);
    return true;
  }
}
