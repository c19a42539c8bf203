/** Markup as HTML that is safe to show. */
export { plainHtml } from "./plain.ts";
