import type { Selectable } from "kysely";
import type { Tables } from "../database/mod.ts";

type Row = Selectable<Tables["uploads"]>;

/** An upload as the API shows it. */
export interface UploadView {
  readonly id: string;
  readonly tag_name: string;
  readonly name: string;
  readonly content_type: string;
  /** The number of received bytes. */
  readonly offset: number;
  readonly length: number;
  readonly is_finished: boolean;
  readonly created_at: string;
  readonly expires_at: string;
}

/**
 * Shows an upload.
 *
 * @param offset the number of received bytes
 */
export function viewOf(row: Row, offset: number): UploadView {
  const { id, content_type, total_bytes, created_at, expires_at, finished_at } = row;
  const { tag, name } = targetOf(row);
  return {
    id,
    tag_name: tag,
    name,
    content_type,
    offset,
    length: total_bytes,
    is_finished: finished_at !== null,
    created_at: new Date(created_at).toISOString(),
    expires_at: new Date(expires_at).toISOString(),
  };
}

/** The release of an upload, and the name of its file. */
export function targetOf({ target }: Row): { readonly tag: string; readonly name: string } {
  return JSON.parse(target);
}
