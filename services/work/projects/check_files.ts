/** The files of a repository that say which checks it has. */
const FILES = /^\.(?:muster\/checks\.yaml|(?:forgejo|gitea|github)\/workflows\/[^/]+\.ya?ml)$/;

/** Whether a file says which checks a repository has. */
export function definesChecks(path: string): boolean {
  return FILES.test(path);
}
