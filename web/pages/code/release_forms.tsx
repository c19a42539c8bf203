/** What members do with releases: make one, publish a draft, delete one. */
import {
  changeRelease,
  createRelease,
  deleteRelease,
} from "../../../services/work/releases/operations.ts";
import { ButtonForm, Form, TextArea, TextField } from "../../parts/form.tsx";
import { CodeProject } from "../../code_project.ts";
import type { Leads } from "../../page.ts";
import type { Visit } from "../../visit.ts";

/** The form for a new release; it is folded until somebody wants one. */
export function NewRelease({ project: { visit } }: { readonly project: CodeProject }) {
  return (
    <details class="card more" open={visit.form.get("action") === "create"}>
      <summary>New release</summary>
      <Form visit={visit} action="create" class="wide prose-form" label="New release">
        <div class="field-grid">
          <TextField
            visit={visit}
            name="tag_name"
            label="Tag"
            hint="Such as v1.2.0. It is made if there is none."
            required
            maxlength={200}
          />
          <TextField visit={visit} name="name" label="Title" maxlength={200} />
          <TextField
            visit={visit}
            name="checkin"
            label="Check-in"
            hint="Any name; by default, the tip of the main branch."
            maxlength={200}
          />
        </div>
        <TextArea visit={visit} name="body" label="Notes" rows={8} hint="Markdown" />
        <label class="check">
          <input
            type="checkbox"
            name="is_prerelease"
            value="true"
            checked={visit.entered("is_prerelease") === "true"}
          />{" "}
          Prerelease
        </label>
        <div class="row">
          <button class="primary" type="submit">Publish</button>
          <button type="submit" name="is_draft" value="true">Save as a draft</button>
        </div>
      </Form>
    </details>
  );
}

/** The ends of a draft: it is published, or deleted. */
export function DraftForms({ visit, tag }: { readonly visit: Visit; readonly tag: string }) {
  return (
    <div class="row">
      <ButtonForm visit={visit} action="publish" values={{ tag }} label="Publish" look="primary" />
      <ButtonForm
        visit={visit}
        action="drop"
        values={{ tag }}
        label="Delete the draft"
        look="danger"
      />
    </div>
  );
}

export async function create(visit: Visit): Promise<Leads> {
  const { slug, to } = new CodeProject(visit);
  const [tag, name, checkin] = ["tag_name", "name", "checkin"]
    .map((field) => visit.entered(field).trim());
  const isDraft = visit.entered("is_draft") === "true";
  await visit.invoke(slug, createRelease, {
    tag_name: tag,
    ...(name === "" ? {} : { name }),
    ...(checkin === "" ? {} : { checkin }),
    body: visit.entered("body").replaceAll("\r\n", "\n"),
    is_prerelease: visit.entered("is_prerelease") === "true",
    is_draft: isDraft,
  });
  return { to: to.at("/releases"), notice: isDraft ? "The draft is saved." : "It is published." };
}

export async function publish(visit: Visit): Promise<Leads> {
  const { slug, to } = new CodeProject(visit);
  await visit.invoke(slug, changeRelease, { tag: visit.entered("tag"), is_draft: false });
  return { to: to.at("/releases"), notice: "The release is published." };
}

export async function drop(visit: Visit): Promise<Leads> {
  const { slug, to } = new CodeProject(visit);
  await visit.invoke(slug, deleteRelease, { tag: visit.entered("tag") });
  return { to: to.at("/releases"), notice: "The draft is deleted. Its tag stays." };
}
