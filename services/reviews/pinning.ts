import type { Project } from "../projects/mod.ts";
import type { Workspace, Workspaces } from "../workspaces/mod.ts";

/** Most files that a review names. */
const MAX_FILES = 5000;

/** The content of a round: check-ins by their whole ids, and the files that differ. */
export interface Pinned {
  readonly base: string;
  readonly tip: string;
  readonly filesChanged: readonly string[];
}

/** The changes that a merge of a workspace would bring to a branch. */
export async function pin(
  workspaces: Pick<Workspaces, "line" | "files">,
  { project, workspace, target }: {
    readonly project: Project;
    readonly workspace: Workspace;
    readonly target: string;
  },
): Promise<Pinned> {
  const line = await workspaces.line(project, workspace, target);
  const { files } = await workspaces.files(project, line);
  const filesChanged = files.slice(0, MAX_FILES).map(({ name }) => name);
  return { base: line.base, tip: line.tip, filesChanged };
}
