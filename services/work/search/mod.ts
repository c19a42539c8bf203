/** Full text search over all projects that a caller may read. */
export {
  type Finding,
  type FoundProject,
  ProjectSearch,
  type ProjectSearchOptions,
  requireWords,
  type SearchRequest,
} from "./project_search.ts";
