/** The shepherd: see shepherd.ts. */
export { shepherd, type ShepherdParts } from "./shepherd.ts";
export type { ProjectWork } from "./plan_book.ts";
