/**
 * Renders Fossil's wiki markup, as the program's page /wiki_rules documents it, to HTML that still
 * needs the sanitiser. No maintained library does this.
 *
 * @see {@link https://fossil-scm.org/home/wiki_rules}
 */
import { diagramOf, type Diagrams } from "./diagrams.ts";
import { addressOf, type Links } from "./links.ts";
import { escapeHtml } from "./plain.ts";

/** Elements that begin a block: text around them does not become a paragraph. */
const BLOCK =
  /^\s*<\/?(?:address|blockquote|center|dd|details|div|dl|dt|h[1-6]|hr|li|ol|p|pre|summary|table|tbody|td|tfoot|th|thead|tr|ul)\b/i;

const ITEM = /^[ \t]{2,}([*#]|\d+[.)]?)[ \t]{2}|^\t([*#])[ \t]/;

/** Literal parts of a text: `<verbatim>`, `<nowiki>` and `<pre>`. */
const LITERAL = /<(verbatim|nowiki|pre)\b([^<>]*)>/gi;

/** The open block, if any. */
type OpenBlock = "p" | "ul" | "ol" | "blockquote" | null;

/** Renders Fossil's wiki markup. */
export function renderFossilWiki(text: string, links: Links, diagrams: Diagrams): string {
  const { body, literals } = takeLiterals(text.replaceAll("\r\n", "\n"), diagrams);
  const out: string[] = [];
  let open: OpenBlock = null;
  let isItemOpen = false;
  const close = () => {
    if (isItemOpen) out.push("</li>");
    if (open !== null) out.push(`</${open}>\n`);
    open = null;
    isItemOpen = false;
  };
  const begin = (block: Exclude<OpenBlock, null>) => {
    if (open === block) return;
    close();
    out.push(`<${block}>`);
    open = block;
  };
  for (const line of body.split("\n")) {
    const item = ITEM.exec(line);
    if (line.trim() === "") close();
    else if (item !== null) {
      begin((item[1] ?? item[2]) === "*" ? "ul" : "ol");
      if (isItemOpen) out.push("</li>\n");
      out.push("<li>", inline(line.slice(item[0].length).replace(/^[ \t]+/, ""), links));
      isItemOpen = true;
    } else if (BLOCK.test(line)) {
      if (open === "p") close();
      out.push(inline(line, links), "\n");
    } else {
      if (open === null) begin(/^(?:\t| {2,})/.test(line) ? "blockquote" : "p");
      else out.push("\n");
      out.push(inline(line.trimStart(), links));
    }
  }
  close();
  return out.join("").replaceAll(
    new RegExp(`${diagrams.mark}l(\\d+);`, "g"),
    (_, index) => literals[Number(index)] ?? "",
  );
}

/** Replaces the literal parts of a text by marks. */
function takeLiterals(text: string, diagrams: Diagrams) {
  const literals: string[] = [];
  const parts: string[] = [];
  const lower = text.toLowerCase();
  const open = new Set<string>();
  let position = 0;
  let searched = 0;
  for (;;) {
    LITERAL.lastIndex = searched;
    const match = LITERAL.exec(text);
    if (match === null) break;
    const [whole, name = "", attributes = ""] = match;
    const start = match.index + whole.length;
    searched = start;
    const element = name.toLowerCase();
    const end = open.has(element) ? -1 : lower.indexOf(`</${element}>`, start);
    // A tag without its end is text, and so are all later ones of this name.
    if (end < 0) {
      open.add(element);
      continue;
    }
    const content = text.slice(start, end);
    parts.push(text.slice(position, match.index), `${diagrams.mark}l${literals.length};`);
    literals.push(literalOf(element, attributes, content, diagrams));
    position = end + name.length + 3;
    searched = position;
  }
  parts.push(text.slice(position));
  return { body: parts.join(""), literals };
}

function literalOf(name: string, attributes: string, content: string, diagrams: Diagrams): string {
  if (name === "nowiki") return content;
  if (name === "pre") return `<pre>${content}</pre>`;
  if (/\btype\s*=\s*["']?pikchr\b/i.test(attributes)) return diagramOf(content, diagrams);
  return `<pre>${escapeHtml(content.replace(/^\n/, ""))}</pre>`;
}

/** `[target]` or `[target|label]`, people and tickets, outside of tags. */
const INLINE =
  /<[^<>]*>|\[([^[\]\n|]{1,200})(?:\|([^[\]\n]{0,500}))?\]|(?<![\w/@&.-])@[\w[\]\\`^{|}-]{1,64}|(?<![\w/#&])#(?:[0-9a-f]{4,64}|[1-9][0-9]{0,2})\b/g;

/** Renders the links of a line. Elements pass: the sanitiser judges them. */
function inline(line: string, links: Links): string {
  return line.replace(INLINE, (whole, target?: string, label?: string) => {
    if (whole.startsWith("<")) return whole;
    const address = addressOf(target ?? whole, links);
    const isTicket = target === undefined && !Object.hasOwn(links.known, whole);
    if (address === null || isTicket) return whole;
    const shown = label?.trim() || shownTarget(target ?? whole);
    return `<a href="${escapeHtml(address)}">${shown}</a>`;
  });
}

function shownTarget(target: string): string {
  return escapeHtml(target.trim().replace(/^wiki:/i, ""));
}
