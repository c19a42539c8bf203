import type { z } from "zod";
import type { technoteSchema } from "../../../services/work/technotes/schemas.ts";
import { MARKUPS } from "../../parts/choices.tsx";
import { Form, Select, TextArea, TextField } from "../../parts/form.tsx";
import { Preview } from "../../parts/prose.tsx";
import type { Visit } from "../../visit.ts";
import { enteredPost } from "./post_form.tsx";

export type Technote = z.output<typeof technoteSchema>;

/**
 * The form that writes a technote or its next version.
 *
 * @param html the text as it will look; null without a preview
 */
export function TechnoteForm({ visit, note, html, back }: {
  readonly visit: Visit;
  /** The newest version; null for a new note. */
  readonly note: Technote | null;
  readonly html: string | null;
  /** Where the form is left without saving. */
  readonly back: string;
}) {
  return (
    <>
      {html !== null && <Preview html={html} />}
      <Form visit={visit} action="save" class="wide">
        {note !== null && (
          <input
            type="hidden"
            name="parent"
            value={visit.refusal === null ? visit.entered("parent", note.uuid) : note.uuid}
          />
        )}
        <TextField
          visit={visit}
          name="comment"
          label="Title"
          hint="One line, which the timeline shows"
          value={note?.comment ?? ""}
          required
          maxlength={1000}
        />
        <TextArea
          visit={visit}
          name="content"
          label="Text"
          rows={20}
          value={note?.content ?? ""}
          required
        />
        <div class="field-grid">
          <Select
            visit={visit}
            name="mimetype"
            label="Markup"
            options={MARKUPS}
            value={note?.mimetype ?? "text/x-markdown"}
          />
          <TextField
            visit={visit}
            name="tags"
            label="Tags (optional)"
            hint="With spaces between them"
            value={note?.tags.join(" ") ?? ""}
          />
        </div>
        <div class="row">
          <button class="primary" type="submit">Save</button>
          <button type="submit" name="action" value="preview">Preview</button>
          <a class="button" href={back}>Cancel</a>
        </div>
      </Form>
    </>
  );
}

/** What was entered, as the API takes it. */
export function enteredNote(visit: Visit) {
  return {
    comment: visit.entered("comment"),
    ...enteredPost(visit),
    tags: visit.entered("tags").split(/\s+/).filter((tag) => tag !== ""),
  };
}
