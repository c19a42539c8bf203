import { Invalid } from "../../kernel/errors.ts";
import { isCustomTicketFieldName } from "../../engines/fossil/front/mod.ts";
import type { NewTicketChange, TicketFields } from "../../engines/fossil/mod.ts";

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

/** A decimal number, or nothing. */
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)?$/i;

/**
 * Checks fields that a request sets.
 *
 * @throws Invalid if the repository's tickets lack one, or a custom field of numbers gets a text
 */
export function checkFields(
  fields: readonly Field[],
  { ticket, change, custom }: TicketFields,
): void {
  for (const { name, value } of fields) {
    if (!ticket.includes(name) && !change.includes(name)) throw unknownField(name);
    const type = custom.find((field) => field.name === name)?.type;
    if (type === "number" && !NUMBER.test(value)) {
      throw new Invalid(`The field "${name}" takes a number, such as "3" or "2.5"`);
    }
  }
}

function unknownField(name: string): Invalid {
  const how = isCustomTicketFieldName(name)
    ? "; an admin of the project can define it with POST /api/tickets/fields"
    : "; GET /api/tickets/fields lists those that they have";
  return new Invalid(`Tickets of this project have no field "${name}"${how}`);
}
