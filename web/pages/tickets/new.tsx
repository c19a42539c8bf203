import { definePage, type Leads, type View } from "../../page.ts";
import { Form } from "../../parts/form.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { createTicket } from "../../../services/work/tickets/operations.ts";
import { readFields, TicketForm, valuesOf } from "./fields.tsx";

/** Files a ticket. */
export const page = definePage({
  opens: "session",
  show,
  actions: { file },
  keeps: ["file"],
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const fields = await readFields(visit, project);
  const body = (
    <>
      <h1>New ticket</h1>
      <Form visit={visit} action="file">
        <TicketForm {...{ visit, project, fields }} ticket={null} />
        <div class="row">
          <button class="primary" type="submit">File the ticket</button>
          <a class="button" href={`${project.base}/tickets`}>Cancel</a>
        </div>
      </Form>
    </>
  );
  return { title: "New ticket", body, project: project.place("tickets") };
}

async function file(visit: Visit): Promise<Leads> {
  const project = openProject(visit);
  const fields = await readFields(visit, project);
  const { description, ...values } = valuesOf(visit, fields, null);
  const { uuid } = await visit.invoke(project.slug, createTicket, {
    title: "",
    ...values,
    comment: description ?? "",
  });
  return { to: `${project.base}/tickets/${uuid}`, notice: "The ticket is filed." };
}
