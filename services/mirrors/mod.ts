/** Mirrors of projects: branches and tags are pushed to a Git remote on a schedule. */
export { Mirrors, type MirrorsOptions } from "./mirrors.ts";
export type { MirrorView } from "./schemas.ts";
