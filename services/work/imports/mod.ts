/** Projects that are filled from Git and Fossil repositories elsewhere. */
export { Imports } from "./imports.ts";
export type { ImportView } from "./schemas.ts";
