import { Prose } from "../../parts/prose.tsx";
import { readable } from "../../parts/ticket_words.ts";
import { Time } from "../../parts/time.tsx";
import type { Ticket, TicketChanges } from "./ticket.tsx";

type Change = TicketChanges["changes"][number];
type ChangedField = Change["fields"][number];

/** Fields of a change that say nothing by themselves. */
const SILENT: ReadonlySet<string> = new Set(["icomment", "mimetype", "login", "username"]);

/** Longest value that the line of a change shows, in characters. */
const MAX_VALUE = 80;

/** What happened to a ticket: comments, and changes of its fields, oldest first. */
export function Activity({ ticket, changes: { changes, page, total_pages } }: {
  readonly ticket: Ticket;
  readonly changes: TicketChanges;
}) {
  const comments = new Map(ticket.comments.map((comment) => [comment.uuid, comment]));
  const entries = changes.toReversed();
  return (
    <ol class="activity">
      {entries.map((change, index) => {
        const comment = comments.get(change.uuid);
        const isFirst = index === 0 && page === total_pages;
        return (
          <li id={`change-${change.uuid.slice(0, 10)}`}>
            {comment === undefined ? null : (
              <article class="card said">
                <header class="meta">
                  <b>{comment.user}</b> <Time at={comment.timestamp} />
                </header>
                <Prose html={comment.comment_html ?? ""} />
              </article>
            )}
            <Changed change={change} isFirst={isFirst} />
          </li>
        );
      })}
    </ol>
  );
}

function Changed({ change, isFirst }: { readonly change: Change; readonly isFirst: boolean }) {
  const { user, timestamp } = change;
  if (isFirst) {
    return (
      <p class="meta">
        <b>{user}</b> filed this ticket <Time at={timestamp} />
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
        <b>{user}</b> {fields.map((field, index) => (
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
