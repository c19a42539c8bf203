import { AccountName, type NamePlace } from "../../parts/account_name.tsx";
import { Prose } from "../../parts/prose.tsx";
import { readable } from "../../parts/ticket_words.ts";
import { Time } from "../../parts/time.tsx";
import type { ClaimOutcome, PastClaim } from "../../../services/tickets/mod.ts";
import type { Ticket, TicketChanges } from "./ticket.tsx";

type Change = TicketChanges["changes"][number];
type ChangedField = Change["fields"][number];

/** Fields of a change that say nothing by themselves. */
const SILENT: ReadonlySet<string> = new Set(["icomment", "mimetype", "login", "username"]);

/** Longest value that the line of a change shows, in characters. */
const MAX_VALUE = 80;

/** What happened to a ticket: comments, changes of its fields, and its claims, oldest first. */
export function Activity({ ticket, changes, claims, ...place }: NamePlace & {
  readonly ticket: Ticket;
  readonly changes: TicketChanges;
  readonly claims: readonly ClaimNews[];
}) {
  const { page, total_pages } = changes;
  const comments = new Map(ticket.comments.map((comment) => [comment.uuid, comment]));
  const entries = changes.changes.toReversed().map((change, index) => ({
    time: Date.parse(change.timestamp),
    entry: (
      <li id={`change-${change.uuid.slice(0, 10)}`}>
        <Comment {...place} comment={comments.get(change.uuid)} />
        <Changed {...place} change={change} isFirst={index === 0 && page === total_pages} />
      </li>
    ),
  }));
  const told = claims.map(({ time, claim, outcome }) => ({
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

function Comment({ comment, ...place }: NamePlace & {
  readonly comment: Ticket["comments"][number] | undefined;
}) {
  if (comment === undefined) return null;
  return (
    <article class="card said">
      <header class="meta">
        <AccountName {...place} name={comment.user} /> <Time at={comment.timestamp} />
      </header>
      <Prose html={comment.comment_html ?? ""} />
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
