/** Wiki pages of projects. */
export {
  type PageVersion,
  type SavedPage,
  type WikiEdit,
  Wikis,
  type WikiWriter,
} from "./wikis.ts";
export { MIMETYPES, pageNameSchema, wikiEditSchema } from "./schemas.ts";
