import { Buffer } from "node:buffer";
import { createCipheriv } from "node:crypto";
import { isSameCode, type Mac } from "./mac.ts";
import type { Mark } from "./marks.ts";
import type { NodeRecord } from "./nodes.ts";

/** `pass FROM STARTED TO STARTED MINUTE NUMBER TOKEN FLAGS ADDRESS ID`. A signed mark has no space. */
const PASS = /^pass ((\S+) (\d+) (\S+) (\d+) (\d+)) (\d{1,15}) ([0-9a-f]{32}) ([0-3]) (\S+) (\S+)$/;

const MINUTE = 60_000;

/** Flags: whether the client came over TLS, and whether the sender keeps its connection. */
const [SECURE, KEPT] = [1, 2];

/** Bytes of a token: those of a block of AES. */
const TOKEN_BYTES = 16;

/** Tokens that are made at a time, because to begin costs more than all of them. */
const TOKENS_AT_ONCE = 32;

/** How many times so many tokens of one key are remembered. */
const MAX_GROUPS = 16;

/** How many keys are remembered. */
const MAX_KEYS = 256;

/** What a pass says of a client's request. */
export type PassContent = Pick<Mark, "address" | "requestId" | "secure" | "kept">;

export interface PassesOptions {
  /** Derives keys of tokens from the secret of all nodes. */
  readonly mac: Mac;
  /** This node. */
  readonly self: Pick<NodeRecord, "name" | "startedAt">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Writes and reads passes, which are short marks: they have a token in place of a code. Only nodes
 * know the tokens, and each one opens a single request, within a minute or two. A code also fixes the
 * method, the target and the credential of its request, but to make it and to check it costs ten
 * times as much.
 */
export class Passes {
  readonly #options: PassesOptions;
  /** By the sender, the receiver, their starts and the minute; the oldest first. */
  readonly #tokens = new Map<string, Tokens>();

  constructor(options: PassesOptions) {
    this.#options = options;
  }

  /** The pass of a request to another node. */
  write(
    { address, requestId, secure, kept = false }: PassContent,
    to: Pick<NodeRecord, "name" | "startedAt">,
    number: number,
  ): string {
    const { name, startedAt } = this.#options.self;
    const way = `${name} ${startedAt} ${to.name} ${to.startedAt} ${this.#minute()}`;
    const tokens = this.#tokens.get(way) ?? this.#remember(way, this.#newTokens(way));
    const flags = (secure ? SECURE : 0) | (kept ? KEPT : 0);
    return `pass ${way} ${number} ${tokens.of(number)} ${flags} ${address} ${requestId}`;
  }

  /** Reads a pass; null if no node has written it, `stale` if one has long ago. */
  read(text: string): Mark | "stale" | null {
    const match = PASS.exec(text);
    if (match === null) return null;
    const [, way = "", from = "", fromStarted, to = "", toStarted, minute] = match;
    const [count, token = "", flags, address = "", requestId = ""] = match.slice(7);
    const number = Number(count);
    const known = this.#tokens.get(way);
    const tokens = known ?? this.#newTokens(way);
    if (!isSameCode(token, tokens.of(number))) return null;
    // Not before: a stranger may write any names.
    if (known === undefined) this.#remember(way, tokens);
    if (Math.abs(this.#minute() - Number(minute)) > 1) return "stale";
    return {
      kind: "forwarded",
      from,
      fromStarted: Number(fromStarted),
      number,
      to,
      toStarted: Number(toStarted),
      address,
      requestId,
      secure: (Number(flags) & SECURE) !== 0,
      kept: (Number(flags) & KEPT) !== 0,
    };
  }

  #minute(): number {
    return Math.floor(this.#options.clock() / MINUTE);
  }

  #newTokens(way: string): Tokens {
    // What a mark signs begins with a method, which is never empty.
    return new Tokens(Buffer.from(this.#options.mac.of(`\npasses ${way}`), "hex"));
  }

  #remember(way: string, tokens: Tokens): Tokens {
    this.#tokens.set(way, tokens);
    const [oldest = way] = this.#tokens.keys();
    if (this.#tokens.size > MAX_KEYS) this.#tokens.delete(oldest);
    return tokens;
  }
}

/** The key stream of AES in counter mode, one block of which is the token of a number. */
class Tokens {
  readonly #key: Uint8Array;
  /** Groups in hexadecimal digits; the oldest first. */
  readonly #groups = new Map<number, string>();

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The token of a number, in hexadecimal digits. */
  of(number: number): string {
    const group = Math.floor(number / TOKENS_AT_ONCE);
    const digits = this.#groups.get(group) ?? this.#make(group);
    const start = (number % TOKENS_AT_ONCE) * TOKEN_BYTES * 2;
    return digits.slice(start, start + TOKEN_BYTES * 2);
  }

  #make(group: number): string {
    const counter = Buffer.alloc(TOKEN_BYTES);
    counter.writeBigUInt64BE(BigInt(group * TOKENS_AT_ONCE), TOKEN_BYTES - 8);
    const cipher = createCipheriv("aes-256-ctr", this.#key, counter);
    const digits = cipher.update(Buffer.alloc(TOKENS_AT_ONCE * TOKEN_BYTES)).toString("hex");
    this.#groups.set(group, digits);
    const [oldest = group] = this.#groups.keys();
    if (this.#groups.size > MAX_GROUPS) this.#groups.delete(oldest);
    return digits;
  }
}
