import { Invalid } from "../../kernel/errors.ts";
import { isCustomTicketFieldName, WORK_FIELDS } from "../../engines/fossil/front/mod.ts";
import type { CustomTicketField, NewTicketChange, TicketFields } from "../../engines/fossil/mod.ts";
import {
  type Project,
  projectEvent,
  type ProjectRepositories,
  type RegisteredKind,
} from "../projects/mod.ts";
import type { TicketWriter } from "./records.ts";

/** A field that a change of a ticket sets. */
export type Field = NewTicketChange["fields"][number];

/** The fields for these values; undefined ones are left alone. */
export function setting(values: Readonly<Record<string, string | undefined>>): Field[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value, append: false }]
  );
}

/**
 * Checks that the repository's tickets have the fields that a request sets. Muster's own come with the
 * first change that sets one.
 *
 * @throws Invalid
 */
export function requireFields(
  fields: readonly Field[],
  { ticket, change }: Pick<TicketFields, "ticket" | "change">,
): void {
  for (const { name } of fields) {
    const isOwn = (WORK_FIELDS as readonly string[]).includes(name);
    if (!isOwn && !ticket.includes(name) && !change.includes(name)) throw unknownField(name);
  }
}

function unknownField(name: string): Invalid {
  const how = isCustomTicketFieldName(name)
    ? "; an admin of the project can define it with POST /api/tickets/fields"
    : "; GET /api/tickets/fields lists those that they have";
  return new Invalid(`Tickets of this project have no field "${name}"${how}`);
}

/** A change of a project's ticket fields, as its intention keeps it. */
interface FieldChange {
  readonly name: string;
  /** Null if the field is removed. */
  readonly type: CustomTicketField["type"] | null;
}

/**
 * Custom ticket fields: they are part of the repository's own ticket schema, so the `fossil`
 * program knows them too. A change leaves no artifact; the repository keeps its date instead.
 */
export class CustomFields {
  readonly #repositories: ProjectRepositories;
  readonly #changing: RegisteredKind<FieldChange>;

  constructor(options: { readonly repositories: ProjectRepositories }) {
    this.#repositories = options.repositories;
    this.#changing = options.repositories.intentions.register<FieldChange>({
      name: "ticket.field",
      settle: ({ project, body: { name, type }, origin, now: time }) => {
        const data = { name, type, action: type === null ? "removed" : "defined" };
        return { events: [projectEvent(project, "project.ticket_field", data, { origin, time })] };
      },
      isDone: async (repository, { stamp }) => await repository.ticketFieldsDate() === stamp.date,
    });
  }

  /**
   * Adds a field to the tickets of a project.
   *
   * @throws Invalid if no custom field may have the name
   * @throws Conflict if the field exists, or the project has too many
   */
  async define(
    project: Project,
    { name, type }: CustomTicketField,
    writer: TicketWriter,
  ): Promise<void> {
    await this.#repositories.write(project, {
      caller: writer.caller,
      user: writer.actor.name,
      intention: { kind: this.#changing, body: { name, type } },
      write: (repository, stamp) => repository.addTicketField({ ...stamp, name, type }),
    });
  }

  /**
   * Removes a custom field. The repository keeps its values, and shows them again if the field is
   * defined again.
   *
   * @throws NotFound; Invalid if the field is built in
   * @throws Conflict if other settings of the repository depend on the field
   */
  async remove(project: Project, name: string, writer: TicketWriter): Promise<void> {
    await this.#repositories.write(project, {
      caller: writer.caller,
      user: writer.actor.name,
      intention: { kind: this.#changing, body: { name, type: null } },
      write: (repository, stamp) => repository.removeTicketField({ ...stamp, name }),
    });
  }
}
