/** Full text search in a separate file beside the repository. */
export { SearchIndex, type SearchIndexOptions } from "./index.ts";
export type * from "./shapes.ts";
