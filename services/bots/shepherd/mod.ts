/** The shepherd: see shepherd.ts. */
export type { ProjectWork } from "./project_work.ts";
export { shepherd, type ShepherdParts } from "./shepherd.ts";
