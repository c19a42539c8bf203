/** The markups of texts, as Fossil names them. */
export const MARKUPS = [
  ["text/x-markdown", "Markdown"],
  ["text/x-fossil-wiki", "Fossil wiki"],
  ["text/plain", "Plain text"],
] as const;
