/** The steward: see steward.ts. */
export { steward, type StewardParts } from "./steward.ts";
