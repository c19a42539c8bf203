import loadPikchr, { type Pikchr } from "pikchr-js";
import { randomBytes } from "node:crypto";
import type { Diagrams } from "./diagrams.ts";
import { withDiagrams } from "./diagrams.ts";
import { renderFossilWiki } from "./fossil_wiki.ts";
import type { Links } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import { plainHtml } from "./plain.ts";
import { sanitizeHtml } from "./sanitize.ts";

/** A text to render. */
export interface Source {
  readonly text: string;
  /** Fossil's name of the markup; an unknown markup is shown as plain text. */
  readonly mimetype: string;
  /** The language of code, whose syntax is shown; absent for texts. */
  readonly language?: string;
  readonly links: Links;
}

/** Makes HTML that is safe to show. */
export type Renderer = (source: Source) => string;

/** Loads the libraries and returns a renderer. */
export async function loadRenderer(): Promise<Renderer> {
  const pikchr: Pikchr = await loadPikchr();
  return ({ text, mimetype, links }) => {
    const render = rendererOf(mimetype);
    if (render === null) return plainHtml(text);
    const mark = `diagram${randomBytes(16).toString("hex")}n`;
    const diagrams: Diagrams = { mark, sources: [] };
    return withDiagrams(sanitizeHtml(render(text, links, diagrams)), diagrams, pikchr);
  };
}

function rendererOf(mimetype: string) {
  switch (mimetype) {
    case "text/x-markdown":
    case "text/markdown":
      return renderMarkdown;
    case "text/x-fossil-wiki":
    case "text/html":
      return renderFossilWiki;
    default:
      return null;
  }
}
