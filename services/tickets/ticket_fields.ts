import type { NewTicketChange, TicketFields } from "../fossil/mod.ts";

/** A field that a change of a ticket sets. */
export type Field = NewTicketChange["fields"][number];

/** The fields for these values; undefined ones are left alone. */
export function setting(values: Readonly<Record<string, string | undefined>>): Field[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value, append: false }]
  );
}

/**
 * The fields of a comment, as the `fossil` program writes them. Old repositories have no fields for
 * comments; there, the comment is appended to the description.
 */
export function commentFields(
  { ticket, change }: TicketFields,
  { comment, mimetype = "text/plain", user }: {
    readonly comment: string;
    readonly mimetype?: string;
    readonly user: string;
  },
): Field[] {
  if (change.includes("icomment") || ticket.includes("icomment")) {
    const values = { icomment: comment, mimetype, login: user };
    return setting(values).filter(({ name }) => change.includes(name) || ticket.includes(name));
  }
  return [{ name: "comment", value: `\n\n${user}: ${comment}`, append: true }];
}
