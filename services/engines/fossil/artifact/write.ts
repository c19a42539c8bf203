import { compareUtf8, decodeUtf8, encodeUtf8, escapeToken, formatDate, md5 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { explainArtifact, MAX_TREE_FILES, tooManyFiles } from "./parse.ts";
import { compareTags, fieldKey, type KnownFiles } from "./rules.ts";
import type { Artifact, CherrypickCard, FileCard, TagCard, TicketField } from "./types.ts";

/**
 * Writes an artifact. Sorts the cards, and checks the result with our own parser.
 *
 * @throws {FossilError} `invalid` if the parser would not read it back as the same kind.
 */
export function formatArtifact(artifact: Artifact): Uint8Array {
  return formatParsed(artifact).bytes;
}

/** Like `formatArtifact`, with the artifact as it is read back. */
export function formatParsed(
  artifact: Artifact,
  files?: KnownFiles,
): { bytes: Uint8Array; parsed: Artifact } {
  if (artifact.kind === "manifest" && artifact.files.length > MAX_TREE_FILES) throw tooManyFiles();
  const body = cardsOf(artifact).join("");
  const bytes = encodeUtf8(`${body}Z ${md5(body)}\n`);
  const { artifact: parsed, reason } = explainArtifact(bytes, {
    isSealed: true,
    ...files && { files },
  });
  if (parsed?.kind !== artifact.kind) {
    const why = reason ?? `it would be read as a ${parsed?.kind}`;
    throw new FossilError("invalid", `Cannot write ${artifact.kind}: ${why}`);
  }
  return { bytes, parsed };
}

/** Text as it will be read back: lone surrogates have no UTF-8. */
function wellFormed(text: string): string {
  return decodeUtf8(encodeUtf8(text));
}

/** One card as a line; null and undefined tokens are left out. */
function card(letter: string, ...tokens: readonly (string | null)[]): string {
  const present = tokens.filter((token) => token !== null);
  return `${[letter, ...present].join(" ")}\n`;
}

/** A card with one escaped token; left out if the token is absent. */
function optional(letter: string, text: string | null): string[] {
  return text === null ? [] : [card(letter, escapeToken(text))];
}

function hashCard(letter: string, hash: string | null): string[] {
  return hash === null ? [] : [card(letter, hash)];
}

function parentsCard(parents: readonly string[]): string[] {
  return parents.length === 0 ? [] : [card("P", ...parents)];
}

function textCard(text: string): string {
  return `W ${encodeUtf8(text).length}\n${text}\n`;
}

function fileCards(files: readonly FileCard[]): string[] {
  const sorted = files.toSorted((left, right) => compareUtf8(left.name, right.name));
  return sorted.map(({ name, hash, mode, oldName }) => {
    const letter = mode === "executable" ? "x" : mode === "link" ? "l" : null;
    const permissions = oldName === null ? letter : letter ?? "w";
    return card("F", escapeToken(name), hash, permissions, oldName && escapeToken(oldName));
  });
}

function tagCards(tags: readonly TagCard[]): string[] {
  return tags.toSorted(compareTags).map(({ sign, name, target, value }) =>
    card("T", sign + escapeToken(name), target ?? "*", value && escapeToken(value))
  );
}

function cherrypickCards(cherrypicks: readonly CherrypickCard[]): string[] {
  return cherrypicks.map(({ hash, backout, base }) =>
    card("Q", `${backout ? "-" : "+"}${hash}`, base)
  );
}

function fieldCards(fields: readonly TicketField[]): string[] {
  const sorted = fields.toSorted((left, right) => compareUtf8(fieldKey(left), fieldKey(right)));
  return sorted.map((field) =>
    card("J", fieldKey(field), field.value === "" ? null : escapeToken(field.value))
  );
}

function cardsOf(artifact: Artifact): string[] {
  switch (artifact.kind) {
    case "manifest":
      return [
        ...hashCard("B", artifact.baseline),
        ...optional("C", artifact.comment),
        card("D", formatDate(artifact.date)),
        ...fileCards(artifact.files),
        ...optional("N", artifact.mimetype),
        ...parentsCard(artifact.parents),
        ...cherrypickCards(artifact.cherrypicks),
        ...hashCard("R", artifact.checksum),
        ...tagCards(artifact.tags),
        ...optional("U", artifact.user),
      ];
    case "cluster":
      return artifact.members.toSorted(compareUtf8).map((member) => card("M", member));
    case "control":
      return [
        card("D", formatDate(artifact.date)),
        ...tagCards(artifact.tags),
        ...optional("U", artifact.user),
      ];
    case "ticket":
      return [
        card("D", formatDate(artifact.date)),
        ...fieldCards(artifact.fields),
        card("K", artifact.ticket),
        ...optional("U", artifact.user),
      ];
    case "attachment": {
      const { name, target, source } = artifact;
      return [
        card("A", escapeToken(name), escapeToken(target), source),
        ...optional("C", artifact.comment),
        card("D", formatDate(artifact.date)),
        ...optional("N", artifact.mimetype),
        ...optional("U", artifact.user),
      ];
    }
    case "wiki":
    case "technote":
    case "forum":
      return documentCards(artifact);
  }
}

/** Cards of the kinds that have text. */
function documentCards(artifact: Extract<Artifact, { text: string }>): string[] {
  const tail = [
    ...optional("N", artifact.mimetype),
    ...parentsCard(artifact.parents),
    ...(artifact.kind === "technote" ? tagCards(artifact.tags) : []),
    ...optional("U", artifact.user),
    textCard(wellFormed(artifact.text)),
  ];
  const date = card("D", formatDate(artifact.date));
  switch (artifact.kind) {
    case "wiki":
      return [...optional("C", artifact.comment), date, ...optional("L", artifact.title), ...tail];
    case "technote": {
      const event = card("E", formatDate(artifact.eventDate), artifact.id);
      return [...optional("C", artifact.comment), date, event, ...tail];
    }
    case "forum":
      return [
        date,
        ...hashCard("G", artifact.root),
        ...optional("H", artifact.title),
        ...hashCard("I", artifact.inReplyTo),
        ...tail,
      ];
  }
}
