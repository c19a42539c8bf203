/**
 * One message of a client, and the answer to it: their bodies, and how they cross to a worker and
 * back.
 */
import { packBlob, unpackSent } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { PushRules } from "./judgement.ts";

/** How a body holds its cards: with a length and zlib, as they are, or as they are for people. */
export type MessageForm = "compressed" | "plain" | "debug";

const CONTENT_TYPES: Readonly<Record<MessageForm, string>> = {
  compressed: "application/x-fossil",
  plain: "application/x-fossil-uncompressed",
  debug: "application/x-fossil-debug",
};

/** The content type of a form. */
export function contentTypeOf(form: MessageForm): string {
  return CONTENT_TYPES[form];
}

/** The form that a content type stands for; null if it is none of the sync protocol. */
export function messageFormOf(contentType: string | null): MessageForm | null {
  const type = (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  const forms = Object.keys(CONTENT_TYPES) as MessageForm[];
  return forms.find((form) => CONTENT_TYPES[form] === type) ?? null;
}

/**
 * The cards of a body. A compressed body declares its length, which is checked before anything is
 * inflated.
 *
 * @param maxBytes the most bytes of cards.
 * @throws {FossilError} `limit` if the body declares more; `corrupt` if it does not inflate.
 */
export function unpackMessage(body: Uint8Array, form: MessageForm, maxBytes: number): Uint8Array {
  return form === "compressed" ? unpackSent(body, maxBytes) : body;
}

/** The body that holds cards. */
export function packMessage(cards: Uint8Array, form: MessageForm): Uint8Array {
  return form === "compressed" ? packBlob(cards) : cards;
}

/** Where the body of a message is. */
export type MessageSource =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** In a file, because it is large. */
  | { readonly kind: "file"; readonly path: string };

/** A received message. */
export interface ReceivedMessage {
  readonly source: MessageSource;
  readonly form: MessageForm;
  /** The most bytes of its cards. */
  readonly maxBytes: number;
}

/** What a client may do. Whether it may push something in particular is the judge's decision. */
export interface SyncRights {
  /** The name for locks and for `rcvfrom`. */
  readonly user: string;
  readonly read: boolean;
  /** Whether it may push anything. */
  readonly write: boolean;
  /** Whether it may send and receive private artifacts. */
  readonly privates: boolean;
  /** Prefixes of the names of unversioned files that the client may not see. */
  readonly hiddenFiles: readonly string[];
}

/** What a push has left out so far: its client announces that again in each of its messages. */
export interface LeftBehind {
  /** The code of the client's repository, from its card `push`. */
  readonly client: string;
  /** Artifacts that were refused. */
  readonly refused: readonly string[];
  /** Artifacts that were asked for because others need them, though the client had not named them. */
  readonly asked: readonly string[];
  /** Why; null if nothing but lists of names for transport was refused. */
  readonly sentence: string | null;
}

/** A message to answer. */
export interface SyncRequest extends ReceivedMessage {
  readonly rights: SyncRights;
  /** What the client may push; null to answer without writing anything. */
  readonly push: PushRules | null;
  /** Null if the client's address is unknown. */
  readonly address: string | null;
  /** The mark of the row of `rcvfrom` of what comes; null for none. */
  readonly mark: string | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** The cookie with the login, as `readLogin` takes it: the message then has no login. */
  readonly cookie: string | null;
  /** Whether the rights are those of the login, whose nonce must then fit the message. */
  readonly isSigned: boolean;
  /** Whether to leave the answer out if new clusters should be written before. */
  readonly mayDefer: boolean;
  /** What earlier messages of the same caller left out, with each of its clients. */
  readonly leftBehind: readonly LeftBehind[];
}

/** The answer to a message. */
export interface SyncAnswer {
  readonly body: Uint8Array;
  readonly form: MessageForm;
  /** Too many artifacts are in no cluster: write clusters and ask again. The body is then empty. */
  readonly wantsClusters: boolean;
  /** The row of `rcvfrom` of what came; null if nothing new came. */
  readonly receipt: number | null;
  readonly counts: SyncCounts;
  /** The error of the answer; null if there is none. */
  readonly error: string | null;
  /** The code of the client's repository, if it pushes. */
  readonly client: string | null;
  /** What the push has left out, if its client will send more; null otherwise. */
  readonly leftBehind: LeftBehind | null;
}

/** The codes by which clients know a repository and its project: 40 hexadecimal digits each. */
export interface SyncCodes {
  readonly serverCode: string;
  readonly projectCode: string;
}

/** What one exchange moved. */
export interface SyncCounts {
  readonly artifactsSent: number;
  readonly artifactsReceived: number;
  readonly unversionedSent: number;
  readonly unversionedReceived: number;
}

/**
 * The cards of a message.
 *
 * @throws {FossilError} `limit` if they are too long; `corrupt` if the body does not inflate.
 */
export function cardsOf({ source, form, maxBytes }: ReceivedMessage): Uint8Array {
  const body = source.kind === "bytes" ? source.bytes : readFile(source.path, maxBytes);
  const message = unpackMessage(body, form, maxBytes);
  if (message.length > maxBytes) throw tooLong(maxBytes);
  return message;
}

function readFile(path: string, maxBytes: number): Uint8Array {
  if (Deno.statSync(path).size > maxBytes) throw tooLong(maxBytes);
  return Deno.readFileSync(path);
}

function tooLong(maxBytes: number): FossilError {
  return new FossilError("limit", `A message has at most ${maxBytes} bytes`);
}
