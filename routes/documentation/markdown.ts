import { raw } from "hono/html";
import MarkdownIt from "markdown-it";
import type { Html } from "./schema_text.ts";

const renderer = new MarkdownIt();

/** Renders a line of Markdown, such as a description of the API's document. HTML is escaped. */
export function markdown(text: string): Html {
  return raw(renderer.renderInline(text));
}
