/** Markup as HTML that is safe to show. */
export { unescaped } from "./fences.ts";
export { type Links, pageAddress, referencesIn } from "./links.ts";
export { Markup, type MarkupOptions } from "./markup.ts";
export type { Source } from "./render.ts";
