import { shownText } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import { timestampOf } from "./checkins.ts";
import { isBinary } from "./file.ts";
import type { Reader } from "./reader.ts";
import type { AttachmentContent, AttachmentRef } from "./shapes.ts";

interface AttachmentRow {
  readonly uuid: string;
  /** Julian day. */
  readonly mtime: number;
  readonly src: string;
  readonly size: number;
  readonly name: string;
  readonly comment: string | null;
  readonly user: string | null;
}

/**
 * The attachments of a wiki page, ticket or technote, sorted by name.
 *
 * @param target title of the page, or full id of the ticket or technote.
 */
export function listAttachments(reader: Reader, target: string): AttachmentRef[] {
  return reader.read(() =>
    reader.repository.db.rows<AttachmentRow>(
      `SELECT blob.uuid, attachment.mtime, src, coalesce(content.size,-1) AS size,
          filename AS name, comment, user
        FROM attachment JOIN blob ON blob.rid=attachid LEFT JOIN blob AS content ON content.uuid=src
        WHERE target=? AND isLatest AND src<>'' ORDER BY filename, attachid`,
      target,
    ).map(({ uuid, mtime, src, size, name, comment, user }) => ({
      uuid,
      name,
      file_uuid: src,
      size: size < 0 ? null : size,
      timestamp: timestampOf(mtime),
      user: shownText(user ?? "", "name"),
      comment: shownText(comment ?? "", "comment"),
    }))
  );
}

/**
 * The bytes of an attachment. They are shared with a cache: do not write to them.
 *
 * @throws {FossilError} `missing` if there is no such attachment, or its content is missing.
 */
export function readAttachment(
  reader: Reader,
  { target, name }: { readonly target: string; readonly name: string },
): AttachmentContent {
  return reader.read(() => {
    const ref = listAttachments(reader, target).find((attachment) => attachment.name === name);
    if (ref === undefined) {
      throw new FossilError("missing", `"${target}" has no attachment "${name}"`);
    }
    const { repository } = reader;
    const content = repository.store.require(repository.ridOf(ref.file_uuid));
    return { ...ref, is_binary: isBinary(content), content };
  });
}
