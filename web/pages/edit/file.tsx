import { getCheckin } from "../../../services/work/code/operations.ts";
import { Conflict, Invalid, NotFound } from "../../../services/kernel/errors.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { Form, Select, TextArea, TextField } from "../../parts/form.tsx";
import { Preview } from "../../parts/prose.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import {
  commitTo,
  type EditedFile,
  ownWorkspaces,
  readEdited,
  type Target,
  workspaceNameFor,
} from "./saving.ts";

/** Largest file that the form takes, in bytes: it is sent as a form, which is longer. */
const MAX_BYTES = 300_000;

const MARKDOWN = /\.(?:md|markdown|mkd)$/i;

/**
 * Edits, renames or deletes a file, or writes a new one. What is saved is a commit in a workspace of
 * the visitor, from which a review can be opened.
 */
export const page = definePage({
  opens: "session",
  show: (visit) => edit(visit, false),
  actions: { save, preview: (visit) => edit(visit, true), remove },
  keeps: ["save", "preview"],
});

/** The file of the address; null for a new one. */
async function readFile(visit: Visit, { slug }: OpenProject): Promise<EditedFile | null> {
  const path = visit.param("path");
  if (path === "") return null;
  const file = await readEdited(visit, { slug, checkin: visit.param("checkin"), path });
  if (file === null) throw new NotFound(`There is no file ${path} here`);
  return file;
}

async function edit(visit: Visit, isPreview: boolean): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const [file, checkin, workspaces] = await Promise.all([
    readFile(visit, project),
    visit.invoke(project.slug, getCheckin, { uuid: visit.param("checkin") }),
    ownWorkspaces(visit, project),
  ]);
  const path = visit.entered("path", file?.path ?? visit.query("folder") ?? "");
  const html = isPreview ? await previewOf(visit, project, path) : null;
  const isText = file === null || (file.text !== null && file.text.length <= MAX_BYTES);
  const title = file === null ? "New file" : `Edit ${file.path}`;
  const body = (
    <>
      <h1>{title}</h1>
      {html !== null && <Preview html={html} />}
      {!isText && <NotEditable isBinary={file.text === null} />}
      <Form visit={visit} action="save" class="wide">
        <input type="hidden" name="uuid" value={visit.entered("uuid", file?.uuid ?? "")} />
        <TextField visit={visit} name="path" label="Path" required value={path} />
        {isText && (
          <TextArea
            visit={visit}
            name="content"
            label="Content"
            rows={24}
            value={file?.text ?? ""}
          />
        )}
        <SaveFields
          visit={visit}
          file={file}
          branch={checkin.branch}
          workspaces={workspaces}
        />
        <div class="row">
          <button class="primary" type="submit">Save to the workspace</button>
          {isText && MARKDOWN.test(path) && (
            <button type="submit" name="action" value="preview">Preview</button>
          )}
          <a class="button" href={backTo(visit, project, file)}>Cancel</a>
        </div>
        {file !== null && <Deletion />}
      </Form>
    </>
  );
  return { title, body, project: project.place("code") };
}

function NotEditable({ isBinary }: { readonly isBinary: boolean }) {
  return (
    <div class="notice">
      <p>
        {isBinary
          ? "This file is binary: it can be renamed or deleted here."
          : "This file is too large to be edited here: commit it with a client of Fossil or Git."}
      </p>
    </div>
  );
}

function Deletion() {
  return (
    <details class="more delete-file">
      <summary>Delete this file</summary>
      <p>The deletion is a commit in the workspace that is chosen above.</p>
      <button class="danger" type="submit" name="action" value="remove" formnovalidate>
        Delete it in the workspace
      </button>
    </details>
  );
}

function SaveFields({ visit, file, branch, workspaces }: {
  readonly visit: Visit;
  readonly file: EditedFile | null;
  readonly branch: string;
  readonly workspaces: readonly { readonly name: string; readonly branch: string }[];
}) {
  const here = workspaces.find((workspace) => workspace.branch === branch)?.name ?? "";
  return (
    <div class="field-grid">
      <div class="full-width">
        <TextField
          visit={visit}
          name="message"
          label="Commit message"
          value={file === null ? "" : `Edit ${file.path}`}
        />
      </div>
      {workspaces.length > 0 && (
        <Select
          visit={visit}
          name="workspace"
          label="Workspace"
          options={[
            ["", `A new one, from ${branch}`],
            ...workspaces.map(({ name }) => [name, name] as const),
          ]}
          value={here}
        />
      )}
      <TextField
        visit={visit}
        name="new_workspace"
        label="Name of a new workspace"
        value={workspaceNameFor(file?.path ?? "file")}
      />
      <input type="hidden" name="branch" value={branch} />
    </div>
  );
}

function backTo(visit: Visit, { base }: OpenProject, file: EditedFile | null): string {
  const checkin = encodeURIComponent(visit.param("checkin"));
  if (file === null) return `${base}/tree/${checkin}/`;
  return `${base}/file/${checkin}/${file.path.split("/").map(encodeURIComponent).join("/")}`;
}

async function previewOf(
  visit: Visit,
  { access: { project } }: OpenProject,
  path: string,
): Promise<string> {
  const mimetype = MARKDOWN.test(path) ? "text/x-markdown" : "text/plain";
  const text = visit.entered("content");
  return await visit.services.hosting.texts.html(project, { text, mimetype });
}

/** Where the form saves to. */
function targetOf(visit: Visit): Target {
  const name = visit.entered("workspace");
  if (name !== "") return { isNew: false, name };
  const created = visit.entered("new_workspace").trim();
  return { isNew: true, name: created, from: visit.entered("branch") };
}

/** Checks that the file is still the one that the form showed. */
async function unchanged(visit: Visit, project: OpenProject): Promise<EditedFile | null> {
  const file = await readFile(visit, project);
  if (file !== null && file.uuid !== visit.entered("uuid", file.uuid)) {
    throw new Conflict("The file has changed since you began: load it again");
  }
  return file;
}

async function save(visit: Visit): Promise<Leads> {
  const project = openProject(visit);
  const file = await unchanged(visit, project);
  const path = visit.entered("path").trim().replace(/^\/+/, "");
  if (path === "" || path.endsWith("/")) throw new Invalid("The path must name a file");
  const content = contentOf(visit, file);
  const isMoved = file !== null && path !== file.path;
  if (file !== null && !isMoved && content === undefined) throw new Invalid("Nothing is changed");
  const change = isMoved
    ? { path: file.path, rename_to: path, content }
    : { path, content: content ?? "" };
  const verb = file === null ? "Add" : isMoved ? "Rename" : "Edit";
  return await send(visit, project, { file, change, message: `${verb} ${path}` });
}

async function remove(visit: Visit): Promise<Leads> {
  const project = openProject(visit);
  const file = await unchanged(visit, project);
  if (file === null) throw new Invalid("A new file cannot be deleted");
  const change = { path: file.path, delete: true };
  return await send(visit, project, { file, change, message: `Delete ${file.path}`, isOwn: true });
}

/**
 * What the form changes the content to, with the line ends of the file; undefined if it is the
 * same.
 */
function contentOf(visit: Visit, file: EditedFile | null): string | undefined {
  const entered = visit.form.get("content");
  if (entered === null) return undefined;
  const plain = entered.replaceAll("\r\n", "\n");
  const content = file?.text?.includes("\r\n") === true ? plain.replaceAll("\n", "\r\n") : plain;
  return content === file?.text ? undefined : content;
}

async function send(
  visit: Visit,
  project: OpenProject,
  commit: {
    readonly file: EditedFile | null;
    readonly change: { readonly path: string };
    /** The message if the visitor wrote none. */
    readonly message: string;
    /** Whether the message of the form, which says "Edit", does not fit. */
    readonly isOwn?: boolean;
  },
): Promise<Leads> {
  const { file, change, message, isOwn = false } = commit;
  const written = visit.entered("message").trim();
  const isDefault = written === "" || (file !== null && written === `Edit ${file.path}`);
  const name = await commitTo(visit, project, targetOf(visit), {
    file,
    change,
    message: isDefault || isOwn ? message : written,
  });
  const to = withQuery(`${project.base}/workspaces/${encodeURIComponent(name)}`, {
    then: "review",
  });
  return { to, notice: `Saved as a commit in ${name}. Open a review when your work is complete.` };
}
