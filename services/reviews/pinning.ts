import type { Project } from "../projects/mod.ts";
import type { Workspace, Workspaces } from "../workspaces/mod.ts";

/** Files that a review names at most. */
const MAX_FILES = 5000;

/** What a round pins: check-ins by their whole ids, and the files that differ. */
export interface Pinned {
  readonly base: string;
  readonly tip: string;
  readonly filesChanged: readonly string[];
}

/** What a merge of a workspace into a branch would bring there. */
export async function pin(
  workspaces: Pick<Workspaces, "line" | "files">,
  { project, workspace, target }: {
    readonly project: Project;
    readonly workspace: Workspace;
    readonly target: string;
  },
): Promise<Pinned> {
  const line = await workspaces.line(project, workspace, target);
  const files = await workspaces.files(project, line);
  const filesChanged = files.slice(0, MAX_FILES).map(({ name }) => name);
  return { base: line.base, tip: line.tip, filesChanged };
}
