/** How refusals name things. */
import type { Artifact } from "../artifact/mod.ts";

/** Digits of a hash in a sentence. */
const SHOWN_DIGITS = 10;
/** Longest name in a sentence, in UTF-16 units. */
const SHOWN_CHARACTERS = 80;

/** The beginning of a hash. */
export function short(hash: string): string {
  return hash.slice(0, SHOWN_DIGITS);
}

/** Says that an artifact names another one that nobody has, and what to do about it. */
export function absentName(hash: string, missing: string): string {
  return `Artifact ${short(hash)} names ${missing}, which is neither in the project nor in this ` +
    "push: push from a repository that has it, or let an admin of the project push this one";
}

/** A name that a stranger chose, in quotation marks. */
export function quoted(name: string): string {
  const shown = name.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd");
  return shown.length > SHOWN_CHARACTERS ? `"${shown.slice(0, SHOWN_CHARACTERS)}…"` : `"${shown}"`;
}

/** An artifact as the subject of a sentence. */
export function nameOf(artifact: Artifact, hash: string): string {
  switch (artifact.kind) {
    case "manifest":
      return `Check-in ${short(hash)}`;
    case "control":
      return `The change of tags ${short(hash)}`;
    case "wiki":
      return `The version ${short(hash)} of the wiki page ${quoted(artifact.title)}`;
    case "ticket":
      return `The change ${short(hash)} of the ticket ${short(artifact.ticket)}`;
    case "technote":
      return `The version ${short(hash)} of a technote`;
    case "forum":
      return `The forum post ${short(hash)}`;
    case "attachment":
      return `The attachment ${quoted(artifact.name)}`;
    case "cluster":
      return `The cluster ${short(hash)}`;
  }
}
