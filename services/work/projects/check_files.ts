/** Where a repository says which checks it has. */
export const DEFINITION_PATH = ".muster/checks.yaml";

/** Where its workflows are: the first of these folders that a check-in has. */
export const WORKFLOW_FOLDERS = [".forgejo/workflows", ".gitea/workflows"] as const;

/** Only where `.muster/checks.yaml` says so: a project that came from GitHub may run them there. */
export const GITHUB_WORKFLOWS = ".github/workflows";

/**
 * Whether a file says which checks a repository has. Any file in a folder of workflows does: the
 * folder hides those that come after it.
 */
export function definesChecks(path: string): boolean {
  return path === DEFINITION_PATH ||
    [...WORKFLOW_FOLDERS, GITHUB_WORKFLOWS].some((folder) =>
      path === folder || path.startsWith(`${folder}/`)
    );
}
