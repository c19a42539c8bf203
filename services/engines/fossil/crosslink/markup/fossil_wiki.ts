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

/** A tag up to its attributes. */
const TAG = /<(\/?)([a-z][a-z0-9-]*)(\/>|(?=[>\s]))/iy;
const VERBATIM_ID = /\sid=(?:"([^"]*)"|'([^']*)'|([^\s>]+))/ig;

/**
 * Targets of links, in the order of the text. Text in `<nowiki>` and `<verbatim>` has no links;
 * with `htmlOnly` (setting "wiki-use-html") every bracket is. The time is linear in the text.
 */
export function fossilWikiLinks(text: string, htmlOnly: boolean): string[] {
  const searched = text.slice(0, MAX_LENGTH);
  return htmlOnly ? bracketLinks(searched) : new WikiScanner(searched).links();
}

function bracketLinks(text: string): string[] {
  const links: string[] = [];
  for (let start = text.indexOf("["); start >= 0;) {
    const end = text.indexOf("]", start);
    if (end < 0) break;
    links.push(targetOf(text.slice(start + 1, end)));
    start = text.indexOf("[", end);
  }
  return links;
}

/** The text before the label, without spaces between them. */
function targetOf(link: string): string {
  const bar = link.indexOf("|");
  let end = bar < 0 ? link.length : bar;
  while (end > 1 && link[end - 1] === " ") end--;
  return link.slice(0, end);
}

class WikiScanner {
  readonly #text: string;
  #position = 0;
  #wikiAllowed = true;
  /** Id of the verbatim element that is open ("" if it has none), or null. */
  #verbatim: string | null = null;
  /** Ends of tags, computed when the first tag needs one. */
  #tagEnds: Int32Array | null = null;
  /** The first id at or after some earlier position; null if no more follows. */
  #nextId: RegExpExecArray | null | undefined;

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
    const end = match === null || !ELEMENTS.has(name) ? -1 : this.#endOf(match);
    if (end >= 0 && this.#takeTag(name, match?.[1] === "/", end)) this.#position = end;
    else this.#position++;
  }

  /** The position after a tag, -1 if it does not end. */
  #endOf(match: RegExpExecArray): number {
    const end = match.index + match[0].length;
    if (match[3] === "/>") return end;
    this.#tagEnds ??= tagEnds(this.#text);
    return this.#tagEnds[end] ?? -1;
  }

  /** Returns false if the tag is plain text, because a verbatim element is open. */
  #takeTag(name: string, closes: boolean, end: number): boolean {
    if (this.#verbatim !== null) {
      if (name !== "verbatim" || !closes) return false;
      if (this.#verbatim !== "" && this.#idBefore(end) !== this.#verbatim) return false;
      this.#verbatim = null;
    } else if (name === "verbatim" && !closes) {
      this.#verbatim = this.#idBefore(end);
    } else if (name === "nowiki") {
      this.#wikiAllowed = closes;
    }
    return true;
  }

  /** The id of the tag at the position, "" if it has none. */
  #idBefore(end: number): string {
    if (
      this.#nextId === undefined || (this.#nextId !== null && this.#nextId.index < this.#position)
    ) {
      VERBATIM_ID.lastIndex = this.#position;
      this.#nextId = VERBATIM_ID.exec(this.#text);
    }
    const id = this.#nextId;
    if (id === null || id.index + id[0].length > end) return "";
    return id[1] ?? id[2] ?? id[3] ?? "";
  }
}

/**
 * For every position outside of quotes the position after the next `>` that is outside of quotes,
 * -1 if none follows. One pass from the end, because many tags may share one end, or have none.
 */
function tagEnds(text: string): Int32Array {
  const ends = new Int32Array(text.length + 1).fill(-1);
  const nextQuote: Record<string, number> = { '"': -1, "'": -1 };
  for (let i = text.length - 1; i >= 0; i--) {
    const character = text[i]!;
    if (character === ">") {
      ends[i] = i + 1;
    } else if (character === '"' || character === "'") {
      const closing = nextQuote[character] ?? -1;
      ends[i] = closing < 0 ? -1 : ends[closing + 1]!;
      nextQuote[character] = i;
    } else {
      ends[i] = ends[i + 1]!;
    }
  }
  return ends;
}
