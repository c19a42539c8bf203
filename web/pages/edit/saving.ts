import { getFile } from "../../../services/work/code/operations.ts";
import { Conflict, NotFound } from "../../../services/kernel/errors.ts";
import * as workspaces from "../../../services/work/workspaces/operations.ts";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

/** A file that is edited. */
export interface EditedFile {
  readonly path: string;
  /** The id of its content. */
  readonly uuid: string;
  /** Null if it is binary, or not UTF-8. */
  readonly text: string | null;
}

/** Where a change is saved: to a workspace of the visitor, or to a new one from a branch. */
export type Target =
  | { readonly isNew: false; readonly name: string }
  | { readonly isNew: true; readonly name: string; readonly from: string };

interface FilePlace {
  readonly slug: string;
  readonly checkin: string;
  readonly path: string;
}

/** Reads a file at a check-in; null if there is none. */
export async function readEdited(
  visit: Visit,
  { slug, checkin, path }: FilePlace,
): Promise<EditedFile | null> {
  try {
    const { uuid, content } = await visit.invoke(slug, getFile, { checkin, path });
    return { path, uuid, text: textOf(content) };
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The active workspaces of the visitor in a project, newest first; at most 20. */
export async function ownWorkspaces(
  { services: { hosting: { workspaces } }, principal }: Visit,
  { access: { project } }: OpenProject,
): Promise<readonly { readonly name: string; readonly branch: string }[]> {
  if (principal.id === null) return [];
  const own = await workspaces.activeOf(principal.id, 100);
  return own.filter(({ projectId }) => projectId === project.id).slice(0, 20)
    .map(({ name }) => ({ name, branch: `workspace/${name}` }));
}

/** A name for a workspace in which a file is edited. */
export function workspaceNameFor(path: string): string {
  const stem = path.slice(path.lastIndexOf("/") + 1).toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "").slice(0, 40);
  return `edit-${stem === "" ? "file" : stem}-${crypto.randomUUID().slice(0, 4)}`;
}

/**
 * Commits a change to a workspace, and creates the workspace before if it is a new one.
 *
 * @returns the name of the workspace
 * @throws Conflict if the file differs there from the one that was edited
 */
export async function commitTo(
  visit: Visit,
  { slug }: OpenProject,
  target: Target,
  { file, change, message }: {
    readonly file: EditedFile | null;
    readonly change: { readonly path: string };
    readonly message: string;
  },
): Promise<string> {
  const { name } = target;
  await requireSame(visit, { slug, checkin: target.isNew ? target.from : `workspace/${name}` }, {
    file,
    path: change.path,
  });
  const { tip } = target.isNew
    ? await visit.invoke(slug, workspaces.createWorkspace, {
      name,
      from: target.from,
      description: message.split("\n")[0]?.slice(0, 500),
    })
    : await visit.invoke(slug, workspaces.getWorkspace, { name, max_files: 0 });
  const commit = { name, message, changes: [change], parent: tip };
  try {
    await visit.invoke(slug, workspaces.commitToWorkspace, commit);
  } catch (error) {
    if (target.isNew) await visit.invoke(slug, workspaces.abandonWorkspace, { name });
    throw error;
  }
  return name;
}

/** Refuses to overwrite a file that differs from the edited one. */
async function requireSame(
  visit: Visit,
  { slug, checkin }: Pick<FilePlace, "slug" | "checkin">,
  { file, path }: { readonly file: EditedFile | null; readonly path: string },
): Promise<void> {
  const there = await readEdited(visit, { slug, checkin, path });
  if (there?.uuid === file?.uuid) return;
  throw new Conflict(
    file === null
      ? `There is already a file ${path} in ${checkin}`
      : `The file differs in ${checkin}: edit it there`,
  );
}
