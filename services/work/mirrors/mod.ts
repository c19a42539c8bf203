/** Git and Fossil repositories elsewhere: what projects pull from, and are pushed to, on a schedule. */
export { NoFossilRepository, pullFromFossil, Upstream } from "./fossil.ts";
export { importFromGit, type ImportProgress } from "./git_pull.ts";
export { GitUpstream, NoGitRepository } from "./git_upstream.ts";
export { Mirrors } from "./mirrors.ts";
export { type Remote, RemoteError } from "./records.ts";
export type { MirrorView } from "./schemas.ts";
