import { MARKUPS } from "../../parts/choices.tsx";
import { Select, TextArea } from "../../parts/form.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

/** The text of a post or a note, with its markup. */
export function PostFields({ visit, rows }: { readonly visit: Visit; readonly rows: number }) {
  return (
    <>
      <TextArea visit={visit} name="content" label="Text" rows={rows} required />
      <Select
        visit={visit}
        name="mimetype"
        label="Markup"
        options={MARKUPS}
        value="text/x-markdown"
      />
    </>
  );
}

/** What was entered, as the API takes it. */
export function enteredPost(visit: Visit) {
  return {
    content: visit.entered("content").replaceAll("\r\n", "\n"),
    mimetype: visit.entered("mimetype"),
  };
}

/** What was entered, as HTML. */
export function previewOf(visit: Visit, { access }: OpenProject): Promise<string> {
  const text = visit.entered("content");
  const mimetype = visit.entered("mimetype");
  return visit.services.hosting.texts.html(access.project, { text, mimetype });
}
