import type {
  Artifact,
  ArtifactKind,
  Cluster,
  KnownFiles,
  TagCard,
  Technote,
  Wiki,
} from "../artifact/mod.ts";
import { encodeUtf8, toJulianDay } from "../codec/mod.ts";
import { type Config, type ContentStore, type Database, TAG } from "../content/mod.ts";
import { linkAttachment, relabelAttachments } from "./attachment.ts";
import { linkManifest } from "./checkin.ts";
import { LinkContext, type TagObserver } from "./context.ts";
import { linkControl } from "./control.ts";
import { linkForumPost } from "./forum.ts";
import { applyNudges, noteAllCloseChildren, widenNudges } from "./nudge.ts";
import { checkLeaves, reparentLinked } from "./plink.ts";
import { insertTag, linkVersions, propagateAll, TAG_TYPE, tagTypeOf } from "./tag.ts";
import { linkTicketChange, rebuildTickets, ticketsNaming } from "./ticket.ts";
import { extractBacklinks } from "./backlink.ts";
import { putEvent } from "./event.ts";

/**
 * Sees every structural artifact before it is linked, including those that waited for the content
 * of another one. If it throws, the whole transaction is rolled back: the place for rules about
 * permissions.
 */
export type Inspect = (artifact: Artifact, hash: string, rid: number) => void;

/** Looks at what a transaction receives. Each may throw. */
export interface LinkChecks {
  readonly inspect?: Inspect;
  /** Sees all other content: files. */
  readonly inspectFile?: (content: Uint8Array, hash: string) => void;
  /** Sees every tag before it changes. */
  readonly onTag?: TagObserver;
}

/** An artifact that waits for another one. */
interface Waiting {
  readonly rid: number;
  /** Whether it can be read already, and only its baseline is missing. */
  readonly isRead: boolean;
}

/**
 * Keeps the derived tables consistent with the artifacts, in any order of arrival. Works inside a
 * transaction: `link` for each artifact, then `finish` once.
 */
export class Crosslinker {
  readonly #ctx: LinkContext;
  #checks: LinkChecks = {};
  #defersNudges = false;

  constructor(db: Database, config: Config, store: ContentStore) {
    this.#ctx = new LinkContext(db, config, store);
  }

  /** Starts a transaction. The checks see what it receives. */
  begin(checks: LinkChecks): void {
    this.#checks = checks;
    this.#ctx.onTag = checks.onTag ?? null;
    this.#ctx.unjudged.begin(checks.inspect !== undefined);
  }

  /** Clears the caches, because another program wrote or a transaction was rolled back. */
  dropCaches(): void {
    this.#ctx.dropCaches();
  }

  /** See {@link LinkContext.relinked}. */
  get relinked(): number {
    return this.#ctx.relinked;
  }

  /** Call this when content arrives that check-ins may name already. */
  noteArrival(): void {
    this.#ctx.relinked++;
  }

  /** Cached F cards. */
  get files(): KnownFiles {
    return this.#ctx.files;
  }

  /** The parsed artifact of a row; null for a file and for missing content. */
  artifact(rid: number): Artifact | null {
    return this.#ctx.artifact(rid);
  }

  /**
   * Writes an artifact to the derived tables. Returns its kind, null if the content is just a file.
   *
   * @param parsed the parsed content, if known.
   */
  link(rid: number, content: Uint8Array, parsed?: Artifact): ArtifactKind | null {
    const artifact = this.#ctx.parse(rid, content, parsed);
    if (artifact === null) {
      this.#checks.inspectFile?.(content, this.#ctx.store.hashOf(rid) ?? "");
      return null;
    }
    this.#checks.inspect?.(artifact, this.#ctx.store.hashOf(rid) ?? "", rid);
    this.#link(rid, artifact);
    return artifact.kind;
  }

  /** Call this for a delta that cannot be linked yet, because its source is missing. */
  noteDangling(rid: number): void {
    this.#ctx.unjudged.note(rid);
  }

  /**
   * Artifacts that wait for content: delta manifests whose baseline it is, and deltas of it. Call
   * this before the content is linked, because linking may make older artifacts deltas of it.
   */
  waitingFor(rid: number): readonly Waiting[] {
    const { db, store } = this.#ctx;
    const deltas = new Set(store.dependents(rid));
    const orphans = db.rows<{ rid: number }>("SELECT rid FROM orphan WHERE baseline=?", rid);
    return [
      ...orphans.filter((row) => !deltas.has(row.rid)).map((row) => ({ ...row, isRead: true })),
      ...[...deltas].map((rid) => ({ rid, isRead: false })),
    ];
  }

  /** Checks and links artifacts that are complete now, and those that wait for them. */
  linkArrived(waiting: readonly Waiting[]): void {
    const { db, store, unjudged } = this.#ctx;
    const queue = [...waiting];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { rid, isRead } = next;
      if (!store.checkArrival(rid)) continue;
      db.run("DELETE FROM orphan WHERE rid=?", rid);
      if (unjudged.take(rid) && this.#ctx.artifact(rid) !== null) {
        this.#ctx.forget(rid);
        continue;
      }
      // Its deltas were linked when it was read first; what linking has made deltas of it is not new.
      if (!isRead) queue.push(...this.waitingFor(rid));
      this.link(rid, store.require(rid));
      store.exposeNothing(rid);
    }
  }

  /**
   * Lets `finish` make the rows of tickets again: of those with a change that names one of the
   * fields, or of all if they are null.
   */
  relinkTickets(fields: readonly string[] | null): void {
    this.#ctx.relinked++;
    for (const ticket of ticketsNaming(this.#ctx, fields)) {
      this.#ctx.pending.tickets.set(ticket, null);
    }
  }

  /** Does the work that waited for the last artifact of the transaction. */
  finish(): void {
    this.#finish(this.#defersNudges ? (ctx) => ctx.pending.nudges.clear() : widenNudges);
  }

  /** Like `finish`, after every artifact of the repository was linked. */
  finishRebuild(): void {
    this.#defersNudges = false;
    this.#finish(noteAllCloseChildren);
  }

  /** Leaves the times of the timeline as they are until `finishRebuild`. */
  deferNudges(): void {
    this.#defersNudges = true;
  }

  #finish(widen: (ctx: LinkContext) => void): void {
    const ctx = this.#ctx;
    reparentLinked(ctx);
    rebuildTickets(ctx, ctx.pending.tickets);
    for (const title of ctx.pending.wikiTitles) refreshWikiBacklinks(ctx, title);
    widen(ctx);
    applyNudges(ctx);
    checkLeaves(ctx);
    for (const work of Object.values(ctx.pending)) work.clear();
  }

  #link(rid: number, artifact: Artifact): void {
    const ctx = this.#ctx;
    switch (artifact.kind) {
      case "manifest": {
        const primary = linkManifest(ctx, rid, artifact);
        if (primary === null) return;
        this.#linkTags(rid, artifact.tags, artifact.date);
        if (primary !== 0) propagateAll(ctx, primary);
        return;
      }
      case "cluster":
        return this.#linkCluster(rid, artifact);
      case "control":
        this.#linkTags(rid, artifact.tags, artifact.date);
        return linkControl(ctx, rid, artifact);
      case "wiki":
        return linkWiki(ctx, rid, artifact);
      case "ticket":
        return linkTicketChange(ctx, rid, artifact);
      case "attachment":
        return linkAttachment(ctx, rid, artifact);
      case "technote":
        this.#linkTags(rid, artifact.tags, artifact.date);
        return linkTechnote(ctx, rid, artifact);
      case "forum":
        return linkForumPost(ctx, rid, artifact);
    }
  }

  #linkTags(source: number, tags: readonly TagCard[], date: number): void {
    for (const { sign, name, target, value } of tags) {
      const rid = target === null ? source : this.#ctx.store.ridOrPhantom(target);
      if (rid === 0) continue;
      const type = tagTypeOf(sign);
      insertTag(this.#ctx, { name, type, value, source, day: toJulianDay(date), target: rid });
    }
  }

  /** Artifacts in a cluster need not be announced one by one. */
  #linkCluster(rid: number, cluster: Cluster): void {
    const { db, store } = this.#ctx;
    const now = db.value<number>("SELECT julianday('now')") ?? 0;
    const tag = { name: "cluster", type: TAG_TYPE.single, value: null, source: rid, target: rid };
    insertTag(this.#ctx, { ...tag, day: now });
    const members = JSON.stringify(cluster.members);
    const unknown = db.rows<{ value: string }>(
      "SELECT value FROM json_each(?) WHERE NOT EXISTS(SELECT 1 FROM blob WHERE uuid=value)",
      members,
    );
    for (const { value } of unknown) store.ridOrPhantom(value);
    db.run(
      "DELETE FROM unclustered WHERE rid IN (SELECT rid FROM json_each(?) JOIN blob ON uuid=value)",
      members,
    );
  }
}

function linkTechnote(ctx: LinkContext, rid: number, note: Technote): void {
  const prior = linkVersions(ctx, rid, note);
  const day = toJulianDay(note.date);
  const tagid = insertTag(ctx, {
    name: `event-${note.id}`,
    type: TAG_TYPE.single,
    value: String(encodeUtf8(trimStart(note.text)).length),
    source: rid,
    day,
    target: rid,
  });
  const newer = ctx.db.value<number>(
    "SELECT rid FROM tagxref WHERE tagid=? AND mtime>=? AND rid!=? ORDER BY mtime",
    tagid,
    day,
    rid,
  );
  if (prior !== 0) ctx.store.deltify(prior, rid);
  if (newer !== undefined) {
    ctx.store.deltify(rid, newer);
  } else {
    if (prior !== 0) ctx.db.run("DELETE FROM event WHERE type='e' AND tagid=?", tagid);
    ctx.db.run(
      `REPLACE INTO event(type,mtime,objid,tagid,user,comment,bgcolor) VALUES('e',?,?,?,?,?,
         (SELECT value FROM tagxref WHERE tagid=${TAG.bgcolor} AND rid=?))`,
      toJulianDay(note.eventDate),
      rid,
      tagid,
      note.user,
      note.comment,
      rid,
    );
  }
  relabelAttachments(ctx, "technote", note.id);
}

/** Text without the white space before it; its length in bytes is the value of the version's tag. */
function trimStart(text: string): string {
  return text.replace(/^[ \t\n\v\f\r]+/, "");
}

function linkWiki(ctx: LinkContext, rid: number, wiki: Wiki): void {
  const prior = linkVersions(ctx, rid, wiki);
  const length = encodeUtf8(trimStart(wiki.text)).length;
  insertTag(ctx, {
    name: `wiki-${wiki.title}`,
    type: TAG_TYPE.single,
    value: String(length),
    source: rid,
    day: toJulianDay(wiki.date),
    target: rid,
  });
  ctx.store.deltify(prior, rid);
  const mark = length === 0 ? "-" : prior === 0 ? "+" : ":";
  ctx.pending.wikiTitles.add(wiki.title);
  const comment = `${mark}${wiki.title}`;
  putEvent(ctx, { type: "w", rid, date: wiki.date, user: wiki.user, comment });
}

/** Writes the links of the latest version of a page. */
function refreshWikiBacklinks(ctx: LinkContext, title: string): void {
  const latest = ctx.db.row<{ tagid: number; rid: number }>(
    `SELECT tagid, rid FROM tagxref JOIN tag USING(tagid) WHERE tagname=?
      ORDER BY tagxref.mtime DESC LIMIT 1`,
    `wiki-${title}`,
  );
  const wiki = latest && ctx.artifact(latest.rid);
  if (!latest || wiki?.kind !== "wiki") return;
  const { mimetype, date, text } = wiki;
  const source = { type: "wiki", id: latest.tagid, mimetype, day: toJulianDay(date) } as const;
  extractBacklinks(ctx, text, source);
}
