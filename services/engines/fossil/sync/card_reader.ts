import { decodeUtf8, unescapeToken } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import {
  type Card,
  NO_HASH,
  type UnversionedFileCard,
  UV_REMOVED,
  UV_WITHOUT_CONTENT,
} from "./cards.ts";

/** Longest line of a card, in bytes. */
const MAX_LINE_BYTES = 64 * 1024;
/** Most tokens of a line. */
const MAX_TOKENS = 16;
/** Characters of a bad line that an error repeats. */
const SHOWN_CHARACTERS = 100;
const NEWLINE = 10;
const HASH_SIGN = 35;
const NUMBER = /^(?:0|[1-9][0-9]{0,14})$/;
const SPACES = /[ \t\r]+/;
/** The name of an artifact. The protocol has no upper case letters in names. */
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** Tokens of a line that a caller may read; absent ones are "". */
type Tokens = readonly string[];
type Parse = (reader: CardReader, tokens: Tokens) => Card | null;

/**
 * Reads the cards of a message, one after the other. Strict: a card that the protocol does not
 * define, or one with a malformed token, is an error. Contents are views of the message.
 */
export class CardReader {
  readonly #message: Uint8Array;
  #position: number;
  #line = "";

  /** @param position where the first card begins. */
  constructor(message: Uint8Array, position = 0) {
    this.#message = message;
    this.#position = position;
  }

  /** Where the next card begins. */
  get position(): number {
    return this.#position;
  }

  /**
   * The next card; null at the end.
   *
   * @throws {FossilError} `invalid` if it is malformed; `limit` if its line is too long.
   */
  next(): Card | null {
    for (;;) {
      const line = this.#nextLine();
      if (line === null) return null;
      const tokens = line.split(SPACES).filter((token) => token !== "");
      if (tokens.length === 0) continue;
      this.#line = line;
      const card = tokens.length > MAX_TOKENS ? null : PARSERS.get(tokens[0]!)?.(this, tokens);
      if (card === null || card === undefined) throw this.#badCommand();
      return card;
    }
  }

  /** Iterates over the rest of the cards. */
  *[Symbol.iterator](): Generator<Card> {
    for (let card = this.next(); card !== null; card = this.next()) yield card;
  }

  /**
   * The content of the current card.
   *
   * @throws {FossilError} `invalid` if the message ends before.
   */
  take(length: number): Uint8Array {
    const end = this.#position + length;
    if (end > this.#message.length) {
      throw new FossilError("invalid", `The message ends in the content of: ${this.#shown()}`);
    }
    const content = this.#message.subarray(this.#position, end);
    this.#position = end;
    return content;
  }

  /** The next line that is no comment, without its end; null at the end of the message. */
  #nextLine(): string | null {
    const message = this.#message;
    while (this.#position < message.length) {
      const start = this.#position;
      const found = message.indexOf(NEWLINE, start);
      const end = found < 0 ? message.length : found;
      if (end - start > MAX_LINE_BYTES) throw new FossilError("limit", "A card is too long");
      this.#position = end + 1;
      if (message[start] !== HASH_SIGN) return decodeUtf8(message.subarray(start, end));
    }
    return null;
  }

  #shown(): string {
    return this.#line.slice(0, SHOWN_CHARACTERS).trim();
  }

  #badCommand(): FossilError {
    return new FossilError("invalid", `bad command: ${this.#shown()}`);
  }
}

/** Each returns null for malformed tokens. */
const PARSERS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ["login", (_, tokens) => loginOf(tokens)],
  ["push", (_, tokens) => codesOf("push", tokens)],
  ["pull", (_, tokens) => codesOf("pull", tokens)],
  ["clone", (_, tokens) => cloneOf(tokens)],
  ["clone_seqno", (_, tokens) => {
    const next = numberOf(tokens[1]);
    return tokens.length !== 2 || next === null ? null : { kind: "clone_seqno", next };
  }],
  ["file", (reader, tokens) => {
    const [hash, source] = [tokens[1]!, tokens.length === 4 ? tokens[2]! : null];
    const length = numberOf(tokens.at(-1));
    if (tokens.length < 3 || tokens.length > 4 || length === null) return null;
    if (!areHashes(hash, source)) return null;
    return { kind: "file", hash, source, content: reader.take(length) };
  }],
  ["cfile", (reader, tokens) => {
    const [hash, source] = [tokens[1]!, tokens.length === 5 ? tokens[2]! : null];
    const [size, length] = [numberOf(tokens.at(-2)), numberOf(tokens.at(-1))];
    if (tokens.length < 4 || tokens.length > 5 || size === null || length === null) return null;
    if (!areHashes(hash, source)) return null;
    return { kind: "cfile", hash, source, size, content: reader.take(length) };
  }],
  ["private", (_, tokens) => tokens.length === 1 ? { kind: "private" } : null],
  ["igot", (_, tokens) => {
    const hash = tokens[1];
    if (hash === undefined || tokens.length > 3 || !HASH.test(hash)) return null;
    return { kind: "igot", hash, isPrivate: tokens[2] === "1" };
  }],
  ["gimme", (_, tokens) => {
    const hash = tokens[1];
    if (hash === undefined || tokens.length !== 2 || !HASH.test(hash)) return null;
    return { kind: "gimme", hash };
  }],
  ["uvigot", (_, tokens) => {
    const [, name, , hash] = tokens;
    const [time, size] = [numberOf(tokens[2]), numberOf(tokens[4])];
    if (tokens.length !== 5 || time === null || size === null) return null;
    if (name === undefined || hash === undefined || !isHashOrNone(hash)) return null;
    return { kind: "uvigot", name, time, hash: hash === NO_HASH ? null : hash, size };
  }],
  ["uvgimme", (_, tokens) => {
    const name = tokens[1];
    return name === undefined || tokens.length !== 2 ? null : { kind: "uvgimme", name };
  }],
  ["uvfile", unversionedOf],
  ["reqconfig", (_, tokens) => {
    const name = tokens[1];
    return name === undefined || tokens.length !== 2 ? null : { kind: "reqconfig", name };
  }],
  ["config", (reader, tokens) => {
    const [name, length] = [tokens[1], numberOf(tokens[2])];
    if (name === undefined || tokens.length !== 3 || length === null) return null;
    return { kind: "config", name, content: reader.take(length) };
  }],
  ["cookie", (_, tokens) => {
    const text = tokens[1];
    return text === undefined || tokens.length !== 2 ? null : { kind: "cookie", text };
  }],
  ["pragma", (_, tokens) => {
    const [, name, ...values] = tokens;
    return name === undefined ? null : { kind: "pragma", name, values: values.map(unescapeToken) };
  }],
  ["message", (_, tokens) => textOf("message", tokens)],
  ["error", (_, tokens) => textOf("error", tokens)],
]);

/** The login that the tokens of a line carry, such as those of a cookie. */
export function loginOf(tokens: Tokens): Card & { readonly kind: "login" } | null {
  const [kind, user, nonce, signature] = tokens;
  if (kind !== "login" || tokens.length !== 4) return null;
  if (user === undefined || nonce === undefined || signature === undefined) return null;
  return { kind, user: unescapeToken(user), nonce, signature };
}

function codesOf(kind: "push" | "pull", tokens: Tokens): Card | null {
  const [, serverCode, projectCode] = tokens;
  if (tokens.length !== 3 || serverCode === undefined || projectCode === undefined) return null;
  return { kind, serverCode, projectCode };
}

function cloneOf(tokens: Tokens): Card | null {
  if (tokens.length === 1) return { kind: "clone", version: 1, sequence: 1 };
  const [version, sequence] = [numberOf(tokens[1]), numberOf(tokens[2])];
  if (tokens.length !== 3 || version === null || sequence === null) return null;
  return { kind: "clone", version, sequence };
}

function unversionedOf(reader: CardReader, tokens: Tokens): UnversionedFileCard | null {
  const [, name, , hash] = tokens;
  const [time, size, flags] = [2, 4, 5].map((at) => numberOf(tokens[at]));
  if (tokens.length !== 6 || name === undefined || hash === undefined) return null;
  if (typeof time !== "number" || typeof size !== "number" || typeof flags !== "number") {
    return null;
  }
  if (!isHashOrNone(hash)) return null;
  const isRemoved = (flags & UV_REMOVED) !== 0;
  if (isRemoved !== (hash === NO_HASH)) return null;
  if (isRemoved) return { kind: "uvfile", name, time, hash: null, size: 0, content: null };
  const content = (flags & UV_WITHOUT_CONTENT) !== 0 ? null : reader.take(size);
  return { kind: "uvfile", name, time, hash, size, content };
}

function textOf(kind: "message" | "error", tokens: Tokens): Card | null {
  const text = tokens.slice(1).map(unescapeToken).join(" ");
  return tokens.length === 1 ? null : { kind, text };
}

/** A whole number of at most 15 digits; null for anything else. */
function numberOf(token: string | undefined): number | null {
  return token !== undefined && NUMBER.test(token) ? Number(token) : null;
}

function areHashes(hash: string, source: string | null): boolean {
  return HASH.test(hash) && (source === null || HASH.test(source));
}

function isHashOrNone(hash: string): boolean {
  return hash === NO_HASH || HASH.test(hash);
}
