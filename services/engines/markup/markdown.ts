import MarkdownIt from "markdown-it";
import { addressOf, type Links } from "./links.ts";
import { diagramOf, type Diagrams } from "./diagrams.ts";
import { escapeHtml } from "./plain.ts";

/** A reference in the text of a paragraph: `[target]`, `[target|label]`, `@name` or `#ticket`. */
const REFERENCE =
  /\[([^[\]\n|]{1,200})(?:\|([^[\]\n]{1,200}))?\]|(?<![\w/@&.-])@[\w[\]\\`^{|}-]{1,64}|(?<![\w/#&])#(?:[0-9a-f]{4,64}|[1-9][0-9]{0,2})\b/g;

/**
 * Renders Markdown (CommonMark with tables, task lists, strikethrough and bare URLs) to HTML that still needs
 * the sanitiser.
 */
export function renderMarkdown(text: string, links: Links, diagrams: Diagrams): string {
  const markdown = new MarkdownIt({ html: true, linkify: true });
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  markdown.core.ruler.after("inline", "task_lists", (state) => markTasks(state.tokens));
  markdown.core.ruler.before("text_join", "references", (state) => {
    for (const token of state.tokens) {
      if (token.children !== null) token.children = linked(token.children, links);
    }
  });
  markdown.block.ruler.before("html_block", "mentioned_tags", mentionedTags(markdown));
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, options, environment, renderer) => {
    const token = tokens[index];
    if (token !== undefined && /^\s*pikchr\b/.test(token.info)) {
      return diagramOf(token.content, diagrams);
    }
    return fence?.(tokens, index, options, environment, renderer) ?? "";
  };
  return markdown.render(text);
}

/** What begins a block of HTML that ends only at a mark of its own. */
const MARKED = /^<(?:(?:script|style|textarea)(?=[\s>]|$)|\?|!\[CDATA\[|![a-z])/i;

/** Characters of the longest of these marks, and one more. */
const MARK_LENGTH = 10;

type BlockRule = Parameters<InstanceType<typeof MarkdownIt>["block"]["ruler"]["before"]>[2];

/**
 * A rule that keeps a line from beginning such a block: the rest of the text would belong to it. The
 * line becomes a paragraph, and its tag is shown.
 */
function mentionedTags(markdown: InstanceType<typeof MarkdownIt>): BlockRule {
  let lastEndOfComment: number | undefined;
  return (state, line, end, silent) => {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    const { src } = state;
    const lastEnd = lastEndOfComment ??= src.lastIndexOf("-->");
    const isOpen = src.startsWith("<!--", start) && lastEnd < start + 2;
    if (!isOpen && !MARKED.test(src.slice(start, start + MARK_LENGTH))) return false;
    const paragraph = markdown.block.ruler.getRules("").at(-1);
    return paragraph?.(state, line, end, silent) ?? false;
  };
}

/** Boxes of task lists. */
const [UNDONE, DONE] = ["\u2610", "\u2611"];

/** Turns `[ ]` and `[x]` at the beginning of a list item into boxes, as on every forge. */
function markTasks(tokens: readonly Token[]): void {
  for (const [index, { type, children }] of tokens.entries()) {
    const first = children?.[0];
    if (type !== "inline" || first?.type !== "text") continue;
    if (tokens[index - 2]?.type !== "list_item_open") continue;
    const match = /^\[([ xX])\](?=\s)/.exec(first.content);
    if (match === null) continue;
    first.content = (match[1] === " " ? UNDONE : DONE) + first.content.slice(match[0].length);
  }
}

type Token = ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number];

/** The tokens of a paragraph, with the references in its text as links. */
function linked(tokens: readonly Token[], links: Links): Token[] {
  let depth = 0;
  return tokens.flatMap((token) => {
    if (token.type === "link_open") {
      depth++;
      const target = decoded(String(token.attrGet("href") ?? ""));
      // A target that is neither known nor in the project, such as `other.md`, stays unchanged.
      const address = addressOf(target, links);
      if (address !== null) token.attrSet("href", address);
    } else if (token.type === "link_close") depth--;
    return token.type === "text" && depth === 0 ? withReferences(token, links) : [token];
  });
}

function withReferences(token: Token, links: Links): Token[] {
  const { content } = token;
  const parts: Token[] = [];
  let end = 0;
  const add = (type: string, html: string) => {
    const part: Token = Object.assign(Object.create(Object.getPrototypeOf(token)), token);
    Object.assign(part, { type, content: html });
    parts.push(part);
  };
  for (const match of content.matchAll(REFERENCE)) {
    const [whole, target = whole, label = target] = match;
    const address = knownAddress(target, links, match[2] !== undefined);
    if (address === null) continue;
    add("text", content.slice(end, match.index));
    add("html_inline", `<a href="${escapeHtml(address)}">${escapeHtml(label)}</a>`);
    end = match.index + whole.length;
  }
  if (parts.length === 0) return [token];
  add("text", content.slice(end));
  return parts;
}

/** A target in brackets without a label is a link only if it exists: `[x]` may be anything. */
function knownAddress(target: string, links: Links, isLabelled: boolean): string | null {
  if (isLabelled) return addressOf(target, links);
  const trimmed = target.trim();
  return Object.hasOwn(links.known, trimmed) ? links.known[trimmed] ?? null : null;
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
