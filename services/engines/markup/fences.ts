/** Code in texts: a fence that names its language shows its syntax. */
import type { Highlighter } from "./highlight.ts";

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
