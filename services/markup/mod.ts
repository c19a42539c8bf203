/** Markup as HTML that is safe to show. */
export { unescaped } from "./fences.ts";
export { type Links, pageAddress, referencesIn } from "./links.ts";
export { Markup, type MarkupOptions, type MarkupWorker } from "./markup.ts";
export type { Source } from "./render.ts";
