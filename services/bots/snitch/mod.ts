/** The snitch: see snitch.ts. */
export { snitch, type SnitchParts } from "./snitch.ts";
export type { Presence } from "./watched.ts";
