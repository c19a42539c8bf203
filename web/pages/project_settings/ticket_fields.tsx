import { ConfirmForm } from "../../parts/confirm.tsx";
import { Form, Select, TextField } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { defineTicketField, removeTicketField } from "../../../services/work/tickets/operations.ts";
import { readFields } from "../tickets/fields.tsx";
import { definePart } from "./part.ts";

/** The custom fields of tickets. */
export const ticketFields = definePart({
  words: "Ticket fields",
  isForServer: false,
  show,
  actions: {
    "add-field": async (visit, { slug }) => {
      const field = { name: visit.entered("name").trim(), type: visit.entered("type") };
      await visit.invoke(slug, defineTicketField, field);
      return `Tickets have the field ${field.name} now.`;
    },
    "remove-field": async (visit, { slug }) => {
      const name = visit.entered("name");
      await visit.invoke(slug, removeTicketField, { name });
      return `The field ${name} is removed. Its values stay in the history.`;
    },
  },
});

async function show(visit: Visit, project: OpenProject) {
  const { custom } = await readFields(visit, project);
  return (
    <>
      <h2>Ticket fields</h2>
      {custom.length === 0
        ? <Empty>Tickets have only the built-in fields.</Empty>
        : (
          <ul class="list" data-keys="list">
            {custom.map(({ name, type }) => (
              <li class="row spread">
                <span>
                  <b>{name}</b> <span class="badge">{type}</span>
                </span>
                <ConfirmForm
                  visit={visit}
                  action="remove-field"
                  values={{ name }}
                  label="Remove …"
                  button={`Remove ${name}`}
                >
                  <p>
                    The values stay in the history of the tickets, and come back with the field.
                  </p>
                </ConfirmForm>
              </li>
            ))}
          </ul>
        )}
      <h2>Add a field</h2>
      <Form visit={visit} action="add-field">
        <TextField
          visit={visit}
          name="name"
          label="Name"
          hint="A letter, then letters, digits and underscores"
          required
          maxlength={64}
        />
        <Select
          visit={visit}
          name="type"
          label="Type"
          options={[["text", "Text"], ["number", "Number"]]}
          value="text"
        />
        <button class="primary" type="submit">Add</button>
      </Form>
    </>
  );
}
