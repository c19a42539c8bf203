/** Full text search in a file of its own beside the repository. */
export { SearchIndex, type SearchIndexOptions, type SearchOptions } from "./index.ts";
export type * from "./shapes.ts";
