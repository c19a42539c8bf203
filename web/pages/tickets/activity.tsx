import { AccountName, type NamePlace } from "../../parts/account_name.tsx";
import { ThreadProse, type ThreadText, threadTexts } from "../../parts/thread_texts.tsx";
import { readable } from "../../parts/ticket_words.ts";
import { Time } from "../../parts/time.tsx";
import type { ClaimOutcome, PastClaim } from "../../../services/work/tickets/mod.ts";
import type { ProjectText } from "../../../services/work/texts/mod.ts";
import type { OpenProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import type { z } from "zod";
import type { ticketChangesSchema } from "../../../services/work/tickets/schemas.ts";

export type TicketChanges = z.output<typeof ticketChangesSchema>;

type Change = TicketChanges["changes"][number];
type ChangedField = Change["fields"][number];

/** Fields of a change that say nothing by themselves. */
const SILENT: ReadonlySet<string> = new Set(["icomment", "mimetype", "login", "username"]);

/** Longest value that the line of a change shows, in characters. */
const MAX_VALUE = 80;

/** What happened to a ticket: comments, changes of its fields, and its claims, oldest first. */
export function Activity({ changes, comments, claims, ...place }: NamePlace & {
  readonly changes: TicketChanges;
  /** By the change. */
  readonly comments: ReadonlyMap<string, ThreadText>;
  readonly claims: readonly ClaimNews[];
}) {
  const alone = place.visit.query(ALONE);
  const shown = alone === undefined
    ? changes.changes
    : changes.changes.filter(({ uuid }) => uuid === alone);
  const first = firstOf(changes);
  const entries = shown.map((change) => ({
    time: Date.parse(change.timestamp),
    entry: (
      <li id={`change-${change.uuid.slice(0, 10)}`}>
        <Comment {...place} change={change} text={comments.get(change.uuid)} />
        <Changed {...place} change={change} isFirst={change === first} />
      </li>
    ),
  })).reverse();
  const told = (alone === undefined ? claims : []).map(({ time, claim, outcome }) => ({
    time,
    entry: (
      <li>
        <p class="meta">
          <span>
            <AccountName {...place} name={claim.holder.name} />{" "}
            {outcome === null ? "claimed this ticket" : ENDS[outcome]}{" "}
            <Time at={new Date(time).toISOString()} />
          </span>
        </p>
      </li>
    ),
  }));
  const all = [...entries, ...told].sort((one, other) => one.time - other.time);
  return <ol class="activity">{all.map(({ entry }) => entry)}</ol>;
}

/** The parameter of the query that names the change to show alone. */
const ALONE = "change";

/** The change that made the ticket, if it is on this page. */
function firstOf({ changes, page, total_pages }: TicketChanges): Change | undefined {
  return page === total_pages ? changes.at(-1) : undefined;
}

/** The comments of a page of changes, by the change; the newest have room first. */
export async function commentsIn(
  visit: Visit,
  project: OpenProject,
  changes: TicketChanges,
): Promise<ReadonlyMap<string, ThreadText>> {
  const alone = visit.query(ALONE);
  const first = firstOf(changes);
  const said = changes.changes.flatMap((change) => {
    const text = alone === undefined || change.uuid === alone
      ? commentOf(change, change === first)
      : null;
    return text === null ? [] : [{ uuid: change.uuid, text }];
  });
  const texts = await threadTexts(visit, project, said.map(({ text }) => text));
  return new Map(said.flatMap(({ uuid }, index) => {
    const text = texts[index];
    return text === undefined ? [] : [[uuid, text]];
  }));
}

/**
 * The comment of a change: "icomment", or what was appended to "comment", which in the first change is
 * the description.
 */
function commentOf({ fields }: Change, isFirst: boolean): ProjectText | null {
  const said = fields.find(({ name, append }) =>
    name === "icomment" || (name === "comment" && append && !isFirst)
  );
  if (said === undefined || said.value === "") return null;
  const mimetype = fields.find(({ name }) => name === "mimetype")?.value ?? "text/plain";
  return { text: said.value, mimetype };
}

/** The beginning or the end of a claim. */
export interface ClaimNews {
  /** Unix milliseconds. */
  readonly time: number;
  readonly claim: PastClaim;
  /** How the claim ended; null for its beginning. */
  readonly outcome: ClaimOutcome | null;
}

/** What the holder of a claim did, or what became of the claim. */
const ENDS: Readonly<Record<ClaimOutcome, string>> = {
  released: "released this ticket",
  submitted: "submitted the work",
  merged: "held this ticket until its work was merged",
  closed: "held this ticket until it was closed",
  lapsed: "let the claim run out",
  broken: "lost the claim, which an admin ended",
  revoked: "lost the claim with the account",
};

/** What happened to the claims of a ticket within a span of time. */
export function newsOf(
  claims: readonly PastClaim[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly ClaimNews[] {
  const isIn = ({ time }: ClaimNews) => time >= from && time < to;
  return claims.flatMap((claim) => {
    const { claimedAt, endedAt, outcome, isSubmitted } = claim;
    const begin: ClaimNews = { time: claimedAt, claim, outcome: null };
    if (endedAt === null || outcome === null) return [begin];
    return [begin, { time: endedAt, claim, outcome: isSubmitted ? "submitted" : outcome }];
  }).filter(isIn);
}

function Comment({ change, text, ...place }: NamePlace & {
  readonly change: Change;
  readonly text: ThreadText | undefined;
}) {
  if (text === undefined) return null;
  const { url } = place.visit;
  const query = { ...Object.fromEntries(url.searchParams), [ALONE]: change.uuid };
  return (
    <article class="card said">
      <header class="meta">
        <AccountName {...place} name={change.user} /> <Time at={change.timestamp} />
      </header>
      <ThreadProse text={text} alone={withQuery(url.pathname, query)} />
    </article>
  );
}

function Changed({ change, isFirst, ...place }: NamePlace & {
  readonly change: Change;
  readonly isFirst: boolean;
}) {
  const { user, timestamp } = change;
  if (isFirst) {
    return (
      <p class="meta">
        <span>
          <AccountName {...place} name={user} /> filed this ticket <Time at={timestamp} />
        </span>
      </p>
    );
  }
  const fields = change.fields.filter(({ name, append, value, previous }) =>
    !SILENT.has(name) && !(name === "comment" && append) && (append || value !== previous)
  );
  if (fields.length === 0) return null;
  return (
    <p class="meta">
      <span>
        <AccountName {...place} name={user} /> {fields.map((field, index) => (
          <>
            {index > 0 && ", "}
            <FieldChange field={field} />
          </>
        ))} <Time at={timestamp} />
      </span>
    </p>
  );
}

function FieldChange({ field: { name, value, append, previous } }: {
  readonly field: ChangedField;
}) {
  const word = name === "comment" ? "the description" : readable(name).toLowerCase();
  const isLong = Math.max(value.length, previous.length) > MAX_VALUE || name === "comment";
  if (isLong || append) return <>changed {word}</>;
  if (value === "") return <>cleared {word}</>;
  return (
    <>
      set {word} to <b>{value}</b>
      {previous !== "" && (
        <>
          {" "}
          <span class="soft">(was {previous})</span>
        </>
      )}
    </>
  );
}
