/** Texts of projects as HTML: pages, comments and release notes. */
export { type ProjectText, ProjectTexts, type ProjectTextsOptions } from "./project_texts.ts";
