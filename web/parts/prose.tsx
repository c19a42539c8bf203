import { raw } from "hono/html";

/** How a text is shown. */
export interface ProseOptions {
  /** Level of the first heading of the text, from 2; the page has the level above it. */
  readonly level?: number;
  /** Where a link to a file beside the text leads; undefined leaves it as it is. */
  readonly resolve?: (target: string, isPicture: boolean) => string | undefined;
}

/**
 * A text of a project as HTML.
 *
 * @param html from `services/work/texts` or a field of the API that is HTML, which are sanitised
 */
export function Prose({ html, class: look = "", ...options }: ProseOptions & {
  readonly html: string;
  readonly class?: string;
}) {
  return <div class={`prose ${look}`.trim()}>{raw(fitProse(html, options))}</div>;
}

/** The tags that are changed; the sanitiser writes every attribute in double quotes. */
const TAGS = /<(h[1-6]|pre|table|a|img)((?: [a-z-]+(?:="[^"<]*")?)*)( ?\/)?>|<\/h([1-6])>/g;

/**
 * Fits sanitised HTML into a page: its headings follow those of the page and can be linked to,
 * pictures of other sites become their descriptions, and wide blocks can be scrolled by keyboard.
 */
function fitProse(html: string, { level = 2, resolve }: ProseOptions = {}): string {
  const open: number[] = [];
  const ids = new Map<string, number>();
  let headings = 0;
  return html.replace(TAGS, (tag, name: string | undefined, attributes = "", _end, closing, at) => {
    if (closing !== undefined) return `</h${levelOf(open, level)}>`;
    switch (name) {
      case "a":
        return `<a${withAddress(attributes, "href", (target) => resolve?.(target, false))}>`;
      case "img":
        return picture(attributes, resolve);
      case "pre":
      case "table":
        return `<${name}${attributes} tabindex="0">`;
      case undefined:
        return tag;
    }
    const own = Number(name.slice(1));
    while ((open.at(-1) ?? 0) >= own) open.pop();
    open.push(own);
    const id = headings++ < MAX_IDS ? newId(headingText(html, at + tag.length), ids) : "";
    return `<h${levelOf(open, level)}${attributes}${id === "" ? "" : ` id="${id}"`}>`;
  });
}

function levelOf(open: readonly number[], level: number): number {
  return Math.min(6, level + open.length - 1);
}

/** Headings of a text that can be linked to; an id costs more than all else of a heading. */
const MAX_IDS = 1000;

/** Most characters of the id of a heading. */
const MAX_ID = 80;

/** The words of a heading, from the place behind its tag. */
function headingText(html: string, start: number): string {
  const end = html.indexOf("</h", start);
  return html.slice(start, end < 0 ? start : end).slice(0, 1000).replace(
    /<[^<>]*>|&\w+;|&#\d+;/g,
    "",
  );
}

/** An id of its own for a heading, as forges make it: words with hyphens. */
function newId(words: string, ids: Map<string, number>): string {
  const name = words.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s+/g, "-")
    .slice(0, MAX_ID);
  if (name === "") return "";
  const count = ids.get(name) ?? 0;
  ids.set(name, count + 1);
  return `doc-${name}${count === 0 ? "" : `-${count}`}`;
}

type Resolve = NonNullable<ProseOptions["resolve"]>;

/**
 * A picture of this server, or the description of one of another site, and of one beside a text that
 * is no file.
 */
function picture(attributes: string, resolve: Resolve | undefined): string {
  const [, source = ""] = / src="([^"]*)"/.exec(attributes) ?? [];
  const [, words = ""] = / alt="([^"]*)"/.exec(attributes) ?? [];
  const isBeside = !source.startsWith("/");
  if (source === "" || /^[a-z]+:/i.test(source) || (isBeside && resolve === undefined)) {
    return `<span class="picture" title="${source}">${words === "" ? "picture" : words}</span>`;
  }
  const described = / alt="/.test(attributes) ? attributes : `${attributes} alt=""`;
  return `<img${withAddress(described, "src", (target) => resolve?.(target, true))}>`;
}

/** Attributes with another address: one of a heading of the same text, or one that is resolved. */
function withAddress(
  attributes: string,
  name: string,
  resolve: (target: string) => string | undefined,
): string {
  return attributes.replace(new RegExp(` ${name}="([^"]*)"`), (whole, target: string) => {
    if (target.startsWith("#")) {
      return target.length > 1 ? ` ${name}="#doc-${target.slice(1)}"` : whole;
    }
    if (/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(target)) return whole;
    const resolved = resolve(target.replaceAll("&amp;", "&"));
    return resolved === undefined
      ? whole
      : ` ${name}="${resolved.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`;
  });
}

/** Shows a text, which is HTML, before it is saved. */
export function Preview({ html }: { readonly html: string }) {
  return (
    <section class="card" aria-label="Preview">
      <p class="meta">Preview: nothing is saved yet</p>
      <Prose html={html} />
    </section>
  );
}

/** Longest part of a text that a page shows, in characters. */
const MAX_PART = 100_000;

/** A part of a text that is too long for one page. */
export interface TextPart {
  readonly text: string;
  /** From 1. */
  readonly part: number;
  readonly parts: number;
}

/**
 * The part of a long text that a page shows. Parts end before a heading or an empty line, where there
 * is one, so that most markup stays whole.
 *
 * @param number from 1; beyond the end, the last part
 */
export function textPart(text: string, number: number): TextPart {
  const starts = [0];
  for (let start = 0; start + MAX_PART < text.length;) {
    start = endOf(text, start);
    starts.push(start);
  }
  const part = Math.min(number, starts.length);
  return { text: text.slice(starts[part - 1], starts[part]), part, parts: starts.length };
}

/** What a part ends before, the best first; the second half of a part is looked through. */
const ENDS = ["\n# ", "\n## ", "\n\n", "\n"];

function endOf(text: string, start: number): number {
  const [least, most] = [start + MAX_PART / 2, start + MAX_PART];
  const half = text.slice(least, most);
  for (const end of ENDS) {
    const at = half.lastIndexOf(end);
    if (at >= 0) return least + at + 1;
  }
  return most;
}
