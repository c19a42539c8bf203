/** Wiki pages of projects. */
export {
  type PageVersion,
  type SavedPage,
  type WikiEdit,
  Wikis,
  type WikiWriter,
} from "./wikis.ts";
