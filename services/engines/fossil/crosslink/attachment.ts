/** Attachments. The target of an attachment may arrive after it. */
import type { Attachment } from "../artifact/mod.ts";
import { escapeHtml, isArtifactHash, toJulianDay } from "../codec/mod.ts";
import { type LinkContext, longPrefix } from "./context.ts";
import { type EventType, putEvent } from "./event.ts";

type TargetKind = "wiki" | "ticket" | "technote";

const EVENT_TYPES: Readonly<Record<TargetKind, EventType>> = {
  wiki: "w",
  ticket: "t",
  technote: "e",
};

export function linkAttachment(ctx: LinkContext, rid: number, attachment: Attachment): void {
  const { name, target, source, comment, date, user } = attachment;
  ctx.db.run(
    `REPLACE INTO attachment(attachid,mtime,src,target,filename,comment,user)
     VALUES(?,?,?,?,?,?,?)`,
    rid,
    toJulianDay(date),
    source,
    target,
    name,
    comment ?? "",
    user,
  );
  ctx.db.run(
    `UPDATE attachment SET isLatest=(mtime==(SELECT max(mtime) FROM attachment
       WHERE target=? AND filename=?)) WHERE target=? AND filename=?`,
    target,
    name,
    target,
    name,
  );
  const kind = targetKind(ctx, target);
  const type = EVENT_TYPES[kind];
  const text = source === null
    ? describeFirstRemoval(ctx, kind, name, target)
    : describe(ctx, kind, name, target, source);
  putEvent(ctx, { type, rid, date, user, comment: text });
}

/** The kind of a target, as far as it is known; an unknown hash counts as a wiki title. */
function targetKind(ctx: LinkContext, target: string): TargetKind {
  if (!isArtifactHash(target)) return "wiki";
  const hasTag = (name: string) => ctx.db.exists("SELECT 1 FROM tag WHERE tagname=?", name);
  if (hasTag(`tkt-${target}`)) return "ticket";
  return hasTag(`event-${target}`) ? "technote" : "wiki";
}

/** Link to the target of an attachment, for the timeline. */
function targetLink(ctx: LinkContext, kind: TargetKind, target: string): string {
  switch (kind) {
    case "wiki":
      return `wiki page [${escapeHtml(target)}]`;
    case "ticket":
      return `ticket [${ctx.hashLink(target)}]`;
    case "technote":
      return `tech note [/technote/${ctx.hashLink(target)}]`;
  }
}

function describe(
  ctx: LinkContext,
  kind: TargetKind,
  name: string,
  target: string,
  source: string | null,
): string {
  const file = escapeHtml(name);
  const where = targetLink(ctx, kind, target);
  if (source === null) return `Delete attachment "${file}" from ${where}`;
  return `Add attachment [/artifact/${longPrefix(source)}|${file}] to ${where}`;
}

/** The program uses another wording for a removal from a technote, until the note changes again. */
function describeFirstRemoval(
  ctx: LinkContext,
  kind: TargetKind,
  name: string,
  target: string,
): string {
  if (kind !== "technote") return describe(ctx, kind, name, target, null);
  const file = `/artifact/${longPrefix(name)}|${escapeHtml(name)}`;
  return `Delete attachment "${file}" from ${targetLink(ctx, kind, target)}`;
}

interface AttachmentRow {
  readonly attachid: number;
  readonly src: string | null;
  readonly filename: string;
}

/** Corrects the timeline for attachments that may have arrived before their target. */
export function relabelAttachments(ctx: LinkContext, kind: TargetKind, target: string): void {
  const attachments = ctx.db.rows<AttachmentRow>(
    "SELECT attachid, src, filename FROM attachment WHERE target=?",
    target,
  );
  for (const { attachid, src, filename } of attachments) {
    const comment = describe(ctx, kind, filename, target, src === "" ? null : src);
    const update = "UPDATE event SET comment=?, type=? WHERE objid=?";
    ctx.db.run(update, comment, EVENT_TYPES[kind], attachid);
  }
}
