/** Texts of projects as HTML: pages, comments, and what releases say. */
export { type ProjectText, ProjectTexts, type ProjectTextsOptions } from "./project_texts.ts";
