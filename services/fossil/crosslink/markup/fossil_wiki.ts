/** Finds the targets of links in Fossil's own wiki markup: `[target]` and `[target|label]`. */

/** Longest text that is searched, in characters. */
const MAX_LENGTH = 1024 * 1024;

/** Elements that the markup knows; other tags are plain text. */
const ELEMENTS = new Set(
  ("a abbr address article aside b big blockquote br center cite code col colgroup dd del dfn " +
    "div dl dt em font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li nav nobr nowiki ol p " +
    "pre s samp section small span strike strong sub sup table tbody td tfoot th thead title tr " +
    "tt u ul var verbatim").split(" "),
);

const TAG = /<(\/?)([a-z][a-z0-9-]*)(?:\/>|(?=[>\s])(?:[^>"']|"[^"]*"|'[^']*'){0,4000}>)/iy;
const VERBATIM_ID = /\sid=(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i;

/**
 * Targets of links, in the order of the text. Text in `<nowiki>` and `<verbatim>` has no links;
 * with `htmlOnly` (setting "wiki-use-html") every bracket is.
 */
export function fossilWikiLinks(text: string, htmlOnly: boolean): string[] {
  const searched = text.slice(0, MAX_LENGTH);
  return htmlOnly ? bracketLinks(searched) : new WikiScanner(searched).links();
}

function bracketLinks(text: string): string[] {
  return [...text.matchAll(/\[([^\]]*)\]/g)].map((match) => targetOf(match[1] ?? ""));
}

/** The text before the label, without spaces between them. */
function targetOf(link: string): string {
  const bar = link.indexOf("|");
  const target = bar < 0 ? link : link.slice(0, bar);
  return target.replace(/(?<=.) +$/, "");
}

class WikiScanner {
  readonly #text: string;
  #position = 0;
  #wikiAllowed = true;
  /** Id of the verbatim element that is open ("" if it has none), or null. */
  #verbatim: string | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  links(): string[] {
    const links: string[] = [];
    while (this.#position < this.#text.length) {
      const character = this.#text[this.#position];
      if (character === "<") this.#skipTag();
      else if (character === "[" && this.#wikiAllowed && this.#verbatim === null) {
        const end = this.#text.indexOf("]", this.#position);
        if (end < 0) break;
        links.push(targetOf(this.#text.slice(this.#position + 1, end)));
        this.#position = end + 1;
      } else this.#position++;
    }
    return links;
  }

  #skipTag(): void {
    TAG.lastIndex = this.#position;
    const match = TAG.exec(this.#text);
    const name = (match?.[2] ?? "").toLowerCase();
    if (match === null || !ELEMENTS.has(name) || !this.#takeTag(name, match)) this.#position++;
    else this.#position += match[0].length;
  }

  /** Returns false if the tag is plain text, because a verbatim element is open. */
  #takeTag(name: string, match: RegExpExecArray): boolean {
    const closes = match[1] === "/";
    const id = VERBATIM_ID.exec(match[0]);
    const idText = id?.[1] ?? id?.[2] ?? id?.[3] ?? "";
    if (this.#verbatim !== null) {
      const matches = this.#verbatim === "" || idText === this.#verbatim;
      if (name !== "verbatim" || !closes || !matches) return false;
      this.#verbatim = null;
    } else if (name === "verbatim" && !closes) {
      this.#verbatim = idText;
    } else if (name === "nowiki") {
      this.#wikiAllowed = closes;
    }
    return true;
  }
}
