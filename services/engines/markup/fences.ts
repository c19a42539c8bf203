/** Code in texts: a fence that names its language shows its syntax. */
import { escapeHtml } from "./plain.ts";

/** A fence as the sanitiser writes it: text without markup. */
const FENCE = /<code class="language-([\w+#.-]{1,40})">([^<>]*)<\/code>/g;

/** Most characters of code that are highlighted in one text. */
const MAX_CODE = 50_000;

/** Whether sanitised HTML has code of a named language. */
export function hasFences(html: string): boolean {
  return html.includes('<code class="language-');
}

/**
 * Highlights the code of a text.
 *
 * @param html from the sanitiser
 * @returns HTML that is as safe: a highlighter writes escaped text and spans with classes alone
 */
export function highlightFences(html: string, highlight: Highlighter): string {
  let left = MAX_CODE;
  return html.replace(FENCE, (fence, language: string, escaped: string) => {
    left -= escaped.length;
    if (left < 0) return fence;
    const code = highlight(unescaped(escaped), language);
    return `<code class="language-${language}">${code}</code>`;
  });
}

/** The characters that an escaped text stands for. */
const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** Text without the escapes of HTML's five special characters. */
export function unescaped(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);
}

/** Makes code HTML, line by line: each line stands for itself. */
type Highlighter = (code: string, language: string) => string;

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
