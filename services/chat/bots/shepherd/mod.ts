/** The shepherd: see shepherd.ts. */
export { type ProjectWork, shepherd, type ShepherdParts } from "./shepherd.ts";
