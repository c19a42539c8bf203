import type { z } from "zod";
import { getTicketFields } from "../../../services/work/tickets/operations.ts";
import type { fieldsSchema, ticketSchema } from "../../../services/work/tickets/schemas.ts";
import { WORK_FIELDS } from "../../../services/engines/fossil/front/mod.ts";
import { Field, Select, TextArea, TextField } from "../../parts/form.tsx";
import { blockerName, membersOf } from "../../parts/given_work.tsx";
import { choicesOf, readable, type WordField, WORDS } from "../../parts/ticket_words.ts";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

export type Ticket = z.output<typeof ticketSchema>;

export type TicketFields = z.output<typeof fieldsSchema>;

const FIELDS = Object.keys(WORDS) as WordField[];

/** Fields of a ticket that the page shows elsewhere, or that belong to a change. */
const SHOWN: ReadonlySet<string> = new Set([
  ...FIELDS,
  ...WORK_FIELDS,
  "title",
  "comment",
  "subsystem",
  "icomment",
  "mimetype",
  "username",
  "login",
]);

/** The prefix of the names of inputs for other fields, which may have any name. */
const OTHER = "field:";

export async function readFields(visit: Visit, { slug }: OpenProject): Promise<TicketFields> {
  return await visit.invoke(slug, getTicketFields, {});
}

/** The fields of a ticket that are no built-in words, with their values; only those with any. */
export function customFieldsOf({ fields }: Ticket): (readonly [name: string, value: string])[] {
  return Object.entries(fields).filter(([name, value]) => !SHOWN.has(name) && value !== "");
}

/** The fields of a form that files or edits a ticket. */
export function TicketForm({ visit, project, ticket, fields }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  /** Null for a new ticket. */
  readonly ticket: Ticket | null;
  readonly fields: TicketFields;
}) {
  return (
    <>
      <TextField
        visit={visit}
        name="title"
        label="Title"
        required
        maxlength={500}
        value={ticket?.title ?? ""}
      />
      <TextArea
        visit={visit}
        name="description"
        label="Description"
        hint="Markdown. [pages], #tickets and @people become links."
        rows={12}
        value={ticket?.body ?? ""}
      />
      <div class="field-grid">
        {FIELDS.filter((name) => ticket !== null || (name !== "resolution" && name !== "status"))
          .map((name) => (
            <Select
              visit={visit}
              name={name}
              label={readable(name)}
              value={ticket?.[name] ?? ""}
              options={[["", "—"], ...choicesOf(name, [ticket?.[name] ?? ""])]}
            />
          ))}
        <TextField
          visit={visit}
          name="subsystem"
          label="Subsystem"
          maxlength={100}
          value={ticket?.subsystem ?? ""}
        />
        <TextField
          visit={visit}
          name="assignee"
          label="Assignee"
          maxlength={200}
          names={membersOf(visit, project)}
          value={ticket?.assignee ?? ""}
        />
        <TextField
          visit={visit}
          name="labels"
          label="Labels"
          hint="With commas between them"
          value={ticket?.labels.join(", ") ?? ""}
        />
        <TextField
          visit={visit}
          name="blocked_by"
          label="Blocked by"
          hint="Tickets to close first, such as #12, #14"
          value={ticket?.blocked_by.map(blockerName).join(", ") ?? ""}
        />
        {fields.custom.map(({ name, type }) => (
          <Field id={OTHER + name} label={name}>
            <input
              id={OTHER + name}
              name={OTHER + name}
              type={type === "number" ? "number" : "text"}
              step={type === "number" ? "any" : undefined}
              autocomplete="off"
              value={visit.entered(OTHER + name, ticket?.fields[name] ?? "")}
            />
          </Field>
        ))}
      </div>
    </>
  );
}

/** What gives work in a new ticket. */
const NOTHING: Pick<Ticket, "assignee" | "labels" | "blocked_by"> = {
  assignee: "",
  labels: [],
  blocked_by: [],
};

/** The parts of an entered list that say something. */
function partsOf(text: string, between: RegExp): string[] {
  return text.split(between).map((part) => part.trim()).filter((part) => part !== "");
}

/**
 * What a form with {@link TicketForm} sets; for an existing ticket, only what differs.
 *
 * @param ticket null for a new ticket
 */
export function valuesOf(visit: Visit, fields: TicketFields, ticket: Ticket | null) {
  const entered = (name: string, before: string) => {
    const value = (visit.form.get(name) ?? before).replaceAll("\r\n", "\n");
    return value === before ? [] : [value];
  };
  const one = (name: string, value: string | undefined) =>
    value === undefined ? [] : [[name, value] as const];
  const words = [...FIELDS, "subsystem" as const].flatMap((name) =>
    one(name, entered(name, ticket?.[name] ?? "")[0])
  );
  const custom = fields.custom.flatMap(({ name }) =>
    one(name, entered(OTHER + name, ticket?.fields[name] ?? "")[0])
  );
  const given = ticket ?? NOTHING;
  const [assignee] = entered("assignee", given.assignee);
  const [labels] = entered("labels", given.labels.join(", "));
  const [blockers] = entered("blocked_by", given.blocked_by.map(blockerName).join(", "));
  const [title] = entered("title", ticket?.title ?? "");
  const [description] = entered("description", ticket?.body ?? "");
  return {
    ...Object.fromEntries([...words, ...one("title", title)]),
    ...(custom.length === 0 ? {} : { fields: Object.fromEntries(custom) }),
    ...(assignee === undefined ? {} : { assignee: assignee.trim() }),
    ...(labels === undefined ? {} : { labels: partsOf(labels, /,/) }),
    ...(blockers === undefined ? {} : { blocked_by: partsOf(blockers, /[\s,]+/) }),
    description,
  };
}
