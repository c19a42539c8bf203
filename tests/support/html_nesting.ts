/** Elements that only texts and parts of texts may be in. */
const PHRASES: ReadonlySet<string> = new Set(["p", "span", "button", "label", "h1", "h2", "h3"]);

/** Elements that are no part of a text. */
const BLOCKS: ReadonlySet<string> = new Set([
  "article",
  "details",
  "div",
  "dl",
  "fieldset",
  "form",
  "header",
  "nav",
  "ol",
  "pre",
  "search",
  "section",
  "table",
  "ul",
]);

const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;

/** A tag: whether it ends an element, the element's name, attributes, and whether it is both. */
const TAG = /<(\/?)([a-z][a-z0-9-]*)((?:[^"'>]|"[^"]*"|'[^']*')*?)(\/?)>/g;

/**
 * Finds blocks within texts, such as a form in a paragraph: a browser ends the paragraph before it.
 * Reads pages of muster, which end every element.
 *
 * @returns each place as the path of elements to it
 */
export function blocksInTexts(html: string): readonly string[] {
  const faults: string[] = [];
  const open: string[] = [];
  const markup = html.replace(/<(script|style|template)\b.*?<\/\1>|<!--.*?-->/gs, "");
  for (const [, end, name = "", , closed] of markup.matchAll(TAG)) {
    if (end !== "") open.splice(open.lastIndexOf(name));
    else if (!VOID.test(name) && closed === "") {
      if (BLOCKS.has(name) && open.some((outer) => PHRASES.has(outer))) {
        faults.push([...open, name].join(" > "));
      }
      open.push(name);
    }
  }
  return faults;
}
