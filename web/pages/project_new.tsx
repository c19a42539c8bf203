import { createProject } from "../../services/work/projects/admin_operations.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { VISIBILITIES } from "../parts/choices.tsx";
import { Form, Select, TextArea, TextField } from "../parts/form.tsx";
import type { Visit } from "../visit.ts";

/** Makes a project, which is then filled by an import or by the first commit. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { create },
  keeps: ["create"],
});

function show(visit: Visit): View {
  const isGuided = visit.form.size === 0 || visit.form.has("agents_md");
  const body = (
    <>
      <h1>New project</h1>
      <Form visit={visit} action="create">
        <TextField
          visit={visit}
          name="slug"
          label="Short name"
          hint="In addresses: lower-case letters, digits, hyphens and underscores"
          required
          maxlength={64}
        />
        <TextField visit={visit} name="name" label="Name (optional)" maxlength={200} />
        <TextArea visit={visit} name="description" label="Description" rows={3} />
        <Select
          visit={visit}
          name="visibility"
          label="Who may read it"
          options={VISIBILITIES}
          value="private"
        />
        <fieldset class="plain-set">
          <legend>How it begins</legend>
          <label class="check">
            <input type="radio" name="start" value="empty" checked={!startsByImport(visit)} />
            With an empty repository
          </label>
          <label class="check">
            <input type="radio" name="start" value="import" checked={startsByImport(visit)} />
            With an import: a .fossil file, or a stream of git fast-export
          </label>
        </fieldset>
        <label class="check">
          <input type="checkbox" name="agents_md" value="true" checked={isGuided} />
          Add AGENTS.md, which tells agents how to work here (not with an import)
        </label>
        <button class="primary" type="submit">Create the project</button>
      </Form>
    </>
  );
  return { title: "New project", body };
}

function startsByImport(visit: Visit): boolean {
  return visit.entered("start") === "import";
}

async function create(visit: Visit): Promise<Leads> {
  const isImport = startsByImport(visit);
  const name = visit.entered("name").trim();
  const project = await visit.invokeOnServer(createProject, {
    slug: visit.entered("slug").trim(),
    ...(name === "" ? {} : { name }),
    description: visit.entered("description").replaceAll("\r\n", "\n"),
    visibility: visit.entered("visibility"),
    agents_md: visit.form.has("agents_md") && !isImport,
  });
  const base = `/projects/${project.slug}`;
  const notice = `The project ${project.name} is there.`;
  return { to: isImport ? `${base}/settings/repository` : base, notice };
}
