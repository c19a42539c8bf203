/** The table `event`: the timeline. */
import { toJulianDay } from "../codec/mod.ts";
import type { LinkContext } from "./context.ts";

/** `event.type`: check-in, technote, forum post, tag change, ticket change, wiki edit. */
export type EventType = "ci" | "e" | "f" | "g" | "t" | "w";

/** A line of the timeline. */
export interface TimelineEvent {
  readonly type: EventType;
  readonly rid: number;
  /** Unix milliseconds. */
  readonly date: number;
  readonly user: string | null;
  readonly comment: string | null;
}

/** Writes a line of the timeline; replaces the one that the artifact had. */
export function putEvent(ctx: LinkContext, event: TimelineEvent): void {
  ctx.db.run(
    "REPLACE INTO event(type,mtime,objid,user,comment) VALUES(?,?,?,?,?)",
    event.type,
    toJulianDay(event.date),
    event.rid,
    event.user,
    event.comment,
  );
}
