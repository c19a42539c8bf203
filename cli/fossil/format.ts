export { printJson } from "../output.ts";

/** The first digits of a hash, as people write it. */
export function shortHash(hash: string): string {
  return hash.slice(0, 10);
}

/** A comment on one line, for lists: each run of white space becomes one space. */
export function onOneLine(comment: string): string {
  return comment.trim().replace(/\s+/g, " ");
}

/** A timestamp to the minute, UTC. */
export function shortTime(timestamp: string): string {
  return timestamp.slice(0, 16).replace("T", " ");
}
