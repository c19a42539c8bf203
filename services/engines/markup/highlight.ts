import { escapeHtml } from "./plain.ts";

/** Makes code HTML, line by line: each line stands for itself. */
export type Highlighter = (code: string, language: string) => string;

/** What `highlight.js` may write: text without markup, and spans whose classes are its own. */
const OWN_MARKUP = /^(?:[^<>]|<(?:span class="(?:hljs-|language-)[\w .:-]{0,80}"|\/span)>)*$/;

/** Loads the library and returns a highlighter. */
export async function loadHighlighter(): Promise<Highlighter> {
  const { default: library } = await import("./highlight_library.ts");
  return (code, language) => {
    if (library.getLanguage(language) === undefined) return escapeHtml(code);
    const { value } = library.highlight(code, { language, ignoreIllegals: true });
    const lines = balanced(value.split("\n"));
    // The text goes into pages as it is: a fault of the library must not run.
    return lines.every((line) => OWN_MARKUP.test(line)) ? lines.join("\n") : escapeHtml(code);
  };
}

/** Ends each line's open spans, and opens them again in the next line. */
function balanced(lines: readonly string[]): string[] {
  let open: string[] = [];
  return lines.map((line) => {
    const start = open.join("");
    for (const [tag] of line.matchAll(/<span [^<>]*>|<\/span>/g)) {
      if (tag === "</span>") open = open.slice(0, -1);
      else open = [...open, tag];
    }
    return start + line + "</span>".repeat(open.length);
  });
}
