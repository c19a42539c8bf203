/** Full text search in a separate file beside the repository. */
export { SearchIndex, type SearchIndexOptions } from "./index.ts";
export { searchIndexPath } from "./shapes.ts";
export type * from "./shapes.ts";
