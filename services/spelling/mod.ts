/** Suggests the name that somebody mistyped. It imports nothing, so that the command line starts fast. */
export { suggest } from "./suggest.ts";
