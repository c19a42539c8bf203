// @ts-types="npm:@types/sanitize-html@2.16.2"
import sanitize from "sanitize-html";
import { SCHEMES } from "./links.ts";
import { escapeStrayTags } from "./tags.ts";

/** Deepest nesting of elements; deeper ones are dropped. */
const MAX_DEPTH = 100;

const PICTURE_SCHEMES = ["http", "https"];

const BLOCKS = ["address", "blockquote", "center", "dd", "details", "div", "dl", "dt", "h1", "h2"];
const MORE_BLOCKS = ["h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "summary", "ul"];
const TABLES = ["caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"];
const INLINE = ["a", "abbr", "b", "big", "br", "cite", "code", "del", "dfn", "em", "i", "img"];
const MORE_INLINE = ["ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong"];
const LAST_INLINE = ["sub", "sup", "tt", "u", "var"];

const ELEMENTS = [
  ...BLOCKS,
  ...MORE_BLOCKS,
  ...TABLES,
  ...INLINE,
  ...MORE_INLINE,
  ...LAST_INLINE,
];

const ELEMENT_NAMES: ReadonlySet<string> = new Set(ELEMENTS);

/**
 * Makes HTML safe: it can run nothing and look like nothing but text. It has no scripts, handlers,
 * styles, frames or forms, and only addresses of the usual schemes. Tags of other elements, and
 * whatever is no whole tag, are shown as text.
 */
export function sanitizeHtml(html: string): string {
  return sanitize(escapeStrayTags(html, ELEMENT_NAMES), {
    allowedTags: ELEMENTS,
    allowedAttributes: {
      a: ["href", "title", "rel"],
      img: ["src", "alt", "title", "width", "height", "loading"],
      code: ["class"],
      ol: ["start", "type"],
      td: ["align", "colspan", "rowspan"],
      th: ["align", "colspan", "rowspan"],
      details: ["open"],
    },
    allowedClasses: { code: [/^language-[\w+#.-]{1,40}$/] },
    allowedSchemes: SCHEMES,
    allowedSchemesByTag: { img: PICTURE_SCHEMES },
    allowProtocolRelative: false,
    nestingLimit: MAX_DEPTH,
    transformTags: {
      a: (tagName, { href, title }) => ({
        tagName,
        attribs: present({
          href: addressIn(href, SCHEMES),
          title,
          rel: "nofollow noopener noreferrer",
        }),
      }),
      img: (tagName, { src, alt, title, width, height }) => ({
        tagName,
        attribs: present({
          src: addressIn(src, PICTURE_SCHEMES),
          alt,
          title,
          width,
          height,
          loading: "lazy",
        }),
      }),
    },
  });
}

/** The address, if it has one of the schemes or none; otherwise undefined. */
function addressIn(address: string | undefined, schemes: readonly string[]): string | undefined {
  if (address === undefined || address.startsWith("//")) return undefined;
  const end = address.search(/[:/?#]/);
  if (end < 0 || address[end] !== ":") return address;
  return schemes.includes(address.slice(0, end).toLowerCase()) ? address : undefined;
}

function present(attributes: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
