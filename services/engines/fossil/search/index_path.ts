/** Where the index of a repository is kept: `x.fossil` has `x.index`. */
export function searchIndexPath(repositoryPath: string): string {
  return `${repositoryPath.replace(/\.fossil$/, "")}.index`;
}
