/** Mirrors of projects: branches and tags are pushed to a Git remote on a schedule. */
export { Mirrors } from "./mirrors.ts";
export type { MirrorView } from "./schemas.ts";
