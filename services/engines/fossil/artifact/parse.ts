/**
 * The strict parser. Whatever it refuses is "just a file". Only this grammar distinguishes files
 * from structural artifacts in Fossil, so it must be neither laxer nor stricter.
 */
import { decodeUtf8, md5 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { CardError, cardOf, CardReader } from "./cards.ts";
import { Draft, KnownFiles, readCard, readFileLine } from "./rules.ts";
import type { Artifact, ArtifactKind } from "./types.ts";

/** Cards each kind may have, and must have. */
const CARDS: Readonly<Record<ArtifactKind, { allowed: string; required: string }>> = {
  manifest: { allowed: "BCDFNPQRTUZ", required: "DZ" },
  cluster: { allowed: "MZ", required: "MZ" },
  control: { allowed: "DTUZ", required: "DTUZ" },
  wiki: { allowed: "CDLNPUWZ", required: "DLUWZ" },
  ticket: { allowed: "DJKUZ", required: "DJKUZ" },
  attachment: { allowed: "ACDNUZ", required: "ADZ" },
  technote: { allowed: "CDENPTUWZ", required: "DEWZ" },
  forum: { allowed: "DGHINPUWZ", required: "DUWZ" },
};

/** Files of a check-in; they take up to a gigabyte of memory. */
export const MAX_TREE_FILES = 200_000;
/** Bytes of the Z card: letter, space, 32 digits, line end. */
const Z_CARD_BYTES = 35;
/** Nothing shorter can be an artifact. */
const MIN_BYTES = 10;
const NO_CARD = "First line is no card";

/** Result of parsing: the artifact, or the reason why the bytes are just a file. */
export type ParseResult =
  | { readonly artifact: Artifact; readonly reason: null }
  | { readonly artifact: null; readonly reason: string };

/** Options of the parser. */
export interface ParseOptions {
  /** Cached F cards, for callers that parse many manifests. */
  readonly files?: KnownFiles;
  /** The checksum in the Z card is known to be right. */
  readonly isSealed?: boolean;
}

/**
 * Parses bytes as a structural artifact; null if they are just a file.
 *
 * @throws {FossilError} `limit` if it is a check-in of more than {@link MAX_TREE_FILES}.
 */
export function parseArtifact(bytes: Uint8Array, options?: ParseOptions): Artifact | null {
  return explainArtifact(bytes, options).artifact;
}

/** Like `parseArtifact`, with the reason why the bytes are just a file. */
export function explainArtifact(bytes: Uint8Array, options: ParseOptions = {}): ParseResult {
  const flaw = flawAtSight(bytes);
  if (flaw !== null) return { artifact: null, reason: flaw };
  try {
    return { artifact: parse(bytes, options), reason: null };
  } catch (error) {
    if (!(error instanceof CardError)) throw error;
    return { artifact: null, reason: error.message };
  }
}

/** A cheap check that rules out most files without throwing an error. */
function flawAtSight(bytes: Uint8Array): string | null {
  if (bytes.at(-1) !== 0x0a) return "Last line has no end";
  return startsWithCard(bytes) || bytes[0] === 0x2d ? null : NO_CARD;
}

function startsWithCard(bytes: Uint8Array): boolean {
  return bytes.length >= MIN_BYTES && isUpperCase(bytes[0]!) && bytes[1] === 0x20;
}

function parse(signed: Uint8Array, { files = new KnownFiles(), isSealed }: ParseOptions): Artifact {
  const bytes = stripSignature(signed);
  if (!startsWithCard(bytes)) throw new CardError(NO_CARD);
  if (isSealed !== true) checkSum(bytes);
  const draft = new Draft();
  const reader = new CardReader(bytes);
  let previous = "";
  for (let line = reader.line(); line !== null; line = reader.line()) {
    const letter = line.charAt(0);
    const swapped = letter === "N" && previous === "P" && draft.event !== null;
    if (letter < previous && !swapped) throw new CardError("Cards are not in order");
    previous = letter;
    draft.seen.add(letter);
    if (letter === "F") {
      if (draft.files.length >= MAX_TREE_FILES) throw tooManyFiles();
      readFileLine(draft, line, files, reader);
    } else readCard(draft, cardOf(line), reader);
  }
  return finish(draft);
}

/** The error for a check-in of more than {@link MAX_TREE_FILES}. */
export function tooManyFiles(): FossilError {
  return new FossilError("limit", `A check-in has more than ${MAX_TREE_FILES} files`);
}

function isUpperCase(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}

function checkSum(bytes: Uint8Array): void {
  const start = bytes.length - Z_CARD_BYTES;
  if (start < 0 || bytes[start] !== 0x5a || bytes[start + 1] !== 0x20) return;
  const claimed = decodeUtf8(bytes.subarray(start + 2, bytes.length - 1));
  if (md5(bytes.subarray(0, start)) !== claimed) throw new CardError("Checksum is wrong");
}

function finish(draft: Draft): Artifact {
  const kind = draft.kind ?? untypedKind(draft);
  const { allowed, required } = CARDS[kind];
  for (const letter of draft.seen) {
    if (!allowed.includes(letter)) throw new CardError(`Card "${letter}" in a ${kind}`);
  }
  for (const letter of required) {
    if (!draft.seen.has(letter)) throw new CardError(`Card "${letter}" is missing in a ${kind}`);
  }
  return assemble(kind, draft);
}

/** The kind of an artifact without a distinctive card. */
function untypedKind(draft: Draft): ArtifactKind {
  return draft.comment !== null || draft.parents.length > 0 ? "manifest" : "control";
}

/** Builds the artifact from a draft with all required cards. */
function assemble(kind: ArtifactKind, draft: Draft): Artifact {
  const { comment, mimetype, parents, tags } = draft;
  const date = draft.date ?? 0;
  const user = draft.user ?? "";
  const text = draft.text ?? "";
  switch (kind) {
    case "manifest": {
      const { baseline, files, cherrypicks, checksum } = draft;
      const cards = { baseline, comment, date, files, mimetype, parents, cherrypicks, checksum };
      return { kind, ...cards, tags, user: draft.user };
    }
    case "cluster":
      return { kind, members: draft.members };
    case "control":
      if (tags.some((tag) => tag.target === null)) throw new CardError("A control tags itself");
      return { kind, date, tags, user };
    case "wiki":
      return { kind, comment, date, title: draft.title ?? "", mimetype, parents, user, text };
    case "ticket":
      return { kind, date, fields: draft.fields, ticket: draft.ticket ?? "", user };
    case "attachment": {
      const attachment = draft.attachment ?? { name: "", target: "", source: null };
      return { kind, ...attachment, comment, date, mimetype, user: draft.user };
    }
    case "technote": {
      if (tags.some((tag) => tag.target !== null || tag.sign !== "+")) {
        throw new CardError("A technote has only plain tags on itself");
      }
      const event = draft.event ?? { date: 0, id: "" };
      const names = { comment, date, eventDate: event.date, id: event.id, mimetype };
      return { kind, ...names, parents, tags, user: draft.user, text };
    }
    case "forum": {
      const { root, inReplyTo } = draft;
      if (draft.threadTitle !== null && inReplyTo !== null) {
        throw new CardError("A forum post has a title and answers another");
      }
      if (parents.length > 1) throw new CardError("A forum post replaces more than one");
      return {
        kind,
        date,
        root,
        title: draft.threadTitle,
        inReplyTo,
        mimetype,
        parents,
        user,
        text,
      };
    }
  }
}

const BEGIN_PGP = "-----BEGIN PGP SIGNED MESSAGE-----";
const BEGIN_SSH = "-----BEGIN SSH SIGNED MESSAGE-----";
const END_PGP = "\n-----BEGIN PGP SIGNATURE-";
const END_SSH = "\n-----BEGIN SSH SIGNATURE-";

/**
 * The artifact inside a clear-signed text: the bytes between the first blank line and the
 * signature. Returns bytes without a PGP or SSH envelope unchanged, and those whose envelope has no
 * blank line. The signature itself is not checked, as in Fossil.
 */
export function stripSignature(bytes: Uint8Array): Uint8Array {
  const opening = decodeUtf8(bytes.subarray(0, BEGIN_PGP.length));
  if (opening !== BEGIN_PGP && opening !== BEGIN_SSH) return bytes;
  const start = afterBlankLine(bytes, BEGIN_PGP.length);
  if (start < 0) return bytes;
  const body = bytes.subarray(start);
  const text = latin1(body);
  const end = Math.max(text.lastIndexOf(END_PGP), text.lastIndexOf(END_SSH));
  return end < 0 ? body : body.subarray(0, end + 1);
}

/** Position behind the first blank line at or after `from`, or -1. */
function afterBlankLine(bytes: Uint8Array, from: number): number {
  for (let i = bytes.indexOf(0x0a, from); i >= 0; i = bytes.indexOf(0x0a, i + 1)) {
    if (bytes[i + 1] === 0x0a && i + 2 < bytes.length) return i + 2;
    if (bytes[i + 1] === 0x0d && bytes[i + 2] === 0x0a && i + 3 < bytes.length) return i + 3;
  }
  return -1;
}

/** One character per byte, so that positions in the text are positions in the bytes. */
function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
