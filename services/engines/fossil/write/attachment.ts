import { gzipSync } from "node:zlib";
import { parseArtifact } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, dateAfter, writeAs } from "./author.ts";

/** An attachment to add or remove. */
export interface NewAttachment extends Author {
  /** Title of a wiki page, or id of a ticket or technote. */
  readonly target: string;
  readonly name: string;
  /** Null removes the attachment. */
  readonly content: Uint8Array | null;
  readonly comment?: string;
}

/**
 * Attaches a file. Returns the hash of the attachment's artifact. Content that is itself a valid
 * artifact is compressed with gzip, and ".gz" is added to its name, so that no repository treats it
 * as an artifact.
 *
 * @throws {FossilError} `missing` if the target is unknown.
 */
export function writeAttachment(repository: Repository, attachment: NewAttachment): string {
  return writeAs(repository, attachment, () => {
    const { target, comment = null, user } = attachment;
    checkTarget(repository, target);
    const { name, content } = harmless(attachment);
    const source = content === null
      ? null
      : repository.store.hashOf(repository.receive(content).rid);
    const newest = repository.db.value<number | null>(
      "SELECT max(mtime) FROM attachment WHERE target=? AND filename=?",
      target,
      name,
    );
    return repository.add({
      kind: "attachment",
      name,
      target,
      source: source ?? null,
      comment,
      date: dateAfter(attachment, newest),
      mimetype: null,
      user,
    });
  });
}

function checkTarget(repository: Repository, target: string): void {
  for (const prefix of ["wiki-", "tkt-", "event-"]) {
    const known = "SELECT 1 FROM tag WHERE tagname=?";
    if (repository.db.exists(known, prefix + target)) return;
  }
  throw new FossilError("missing", `There is no wiki page, ticket or technote "${target}"`);
}

function harmless({ name, content }: NewAttachment): { name: string; content: Uint8Array | null } {
  if (content === null || parseArtifact(content) === null) return { name, content };
  return { name: `${name}.gz`, content: new Uint8Array(gzipSync(content)) };
}
