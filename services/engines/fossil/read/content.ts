import { FossilError } from "../error.ts";
import type { Reader } from "./reader.ts";

/** A file of a check-in whose content cannot be read: it never arrived, is shunned or damaged. */
export interface UnreadableFile {
  readonly path: string;
  /** Name of the content. */
  readonly uuid: string;
  /** One sentence without a period. */
  readonly reason: string;
}

/**
 * The bytes of a file's content, or the reason why they cannot be read.
 *
 * @param uuid name of the content, as a check-in has it.
 */
export function contentOrReason(reader: Reader, uuid: string): Uint8Array | string {
  const { repository } = reader;
  reader.check();
  try {
    return repository.store.require(repository.ridOf(uuid));
  } catch (error) {
    if (!(error instanceof FossilError)) throw error;
    return repository.store.isShunned(uuid) ? `Artifact "${uuid}" is shunned` : error.message;
  }
}
