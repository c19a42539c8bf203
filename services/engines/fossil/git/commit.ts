/**
 * The commit of a check-in. It is a pure function of the check-in's own cards, so that its name never
 * changes: what later artifacts say of the check-in, and the table of users, do not count.
 */
import { formatTree, nameOfObject, type ObjectKind } from "../../git/mod.ts";
import type { Manifest } from "../artifact/mod.ts";
import {
  COMMIT_PROPERTY,
  formatHeaders,
  type Headers,
  parseHeaders,
  splitMessage,
} from "./headers.ts";
import { dateOf, parseSignature, personOf, signatureLine, userOf } from "./person.ts";
import { decodeText, encodeText } from "./stream/mod.ts";

/** The cards of a check-in that tell its commit, apart from its files and parents. */
export type CommitCards = Pick<Manifest, "comment" | "date" | "tags" | "user">;

/** What Git has of a commit beside its tree and its parents, as text. */
export interface CommitText {
  readonly author: string;
  readonly committer: string;
  /** Further headers with their line ends; "" for none. */
  readonly further: string;
  readonly message: string;
}

/** Reads the content of an artifact by its name. */
export type ReadArtifact = (artifact: string) => Uint8Array;

/** The value of a property that a check-in gives itself; "" for none. */
export function ownProperty({ tags }: Pick<Manifest, "tags">, name: string): string {
  const card = tags.find((tag) => tag.target === null && tag.sign !== "-" && tag.name === name);
  return card?.value ?? "";
}

/**
 * The text of a check-in's commit. In check-ins made in Fossil, the user is author and committer. Bytes
 * that are not UTF-8 are lone surrogates, as in {@linkcode decodeText}.
 */
export function commitTextOf(cards: CommitCards, readRest: ReadArtifact): CommitText {
  const kept = keptOf(cards, readRest);
  const derived = signatureLine(personOf(cards.user ?? "anonymous"), cards.date);
  const author = kept.author ?? derived;
  return {
    author,
    committer: kept.committer ?? author,
    further: kept.further ?? "",
    message: kept.message ?? `${cards.comment ?? ""}\n`,
  };
}

/** What a check-in has of a commit; `value` is that of the property. */
export interface CheckinText {
  readonly comment: string;
  readonly user: string;
  /** Unix milliseconds. */
  readonly date: number;
  readonly value: string;
}

/**
 * The check-in for a commit; the other way round, {@link commitTextOf} gives the commit.
 *
 * @param options.userFor the user of the author
 * @param options.latest date that it may have, in Unix milliseconds
 */
export function checkinOf(
  { author, committer, message, further, rest }: Omit<CommitText, "author"> & {
    readonly author: string | null;
    /** The artifact with what the texts do not hold; null for none. */
    readonly rest: string | null;
  },
  { userFor = userOf, latest = Infinity }: {
    readonly userFor?: (person: string) => string;
    readonly latest?: number;
  } = {},
): CheckinText {
  const line = author ?? committer;
  const [writer, recorder] = [parseSignature(line), parseSignature(committer)];
  const user = userFor(writer.person);
  const date = Math.min(dateOf(recorder.isDated ? recorder : writer), latest);
  const split = splitMessage(message);
  const value = formatHeaders({
    ...(line === signatureLine(personOf(user), date) ? {} : { author: line }),
    ...(committer === line ? {} : { committer }),
    ...(rest === null ? {} : { rest }),
    ...(further === "" ? {} : { further }),
    ...(split.message === undefined ? {} : { message: split.message }),
  });
  return { comment: split.comment, user, date, value };
}

function keptOf(cards: CommitCards, readRest: ReadArtifact): Headers {
  const kept = parseHeaders(ownProperty(cards, COMMIT_PROPERTY));
  return kept.rest === undefined ? kept : parseHeaders(decodeText(readRest(kept.rest)));
}

/** An object of Git: its name in 20 bytes, and its content. */
export interface GitObject {
  readonly kind: ObjectKind;
  readonly name: Uint8Array;
  readonly content: Uint8Array;
}

/** @param content of the object */
export function objectOf(kind: ObjectKind, content: Uint8Array): GitObject {
  return { kind, name: nameOfObject(kind, content), content };
}

/** The tree that has no entry. */
export const EMPTY_TREE = objectOf("tree", formatTree([]));

/**
 * The commit of a check-in.
 *
 * @param tree and parents by their names in Git, in 40 digits; the parents in the order of the P card
 */
export function commitOf(
  cards: CommitCards,
  { tree, parents, readRest }: {
    readonly tree: string;
    readonly parents: readonly string[];
    readonly readRest: ReadArtifact;
  },
): GitObject {
  const { author, committer, further, message } = commitTextOf(cards, readRest);
  const place = [`tree ${tree}\n`, ...parents.map((parent) => `parent ${parent}\n`)].join("");
  const text = `${place}author ${author}\ncommitter ${committer}\n${further}\n${message}`;
  return objectOf("commit", encodeText(text));
}
