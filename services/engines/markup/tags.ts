/**
 * Tells tags from text that looks like tags. What is no element that may be shown stays in the text,
 * as it was written: a parser of HTML would drop it, and often all that follows.
 */

/**
 * Elements that are left out with nothing but their tags: they only arrange what is in them. A tag
 * without attributes is a word of the text where its element has no other end: "the <body> tag".
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "acronym",
  "article",
  "aside",
  "body",
  "figcaption",
  "figure",
  "font",
  "footer",
  "head",
  "header",
  "html",
  "link",
  "main",
  "meta",
  "nav",
  "nobr",
  "picture",
  "section",
  "source",
  "time",
  "wbr",
]);

/** Those of them that have no content, and say nothing without attributes. */
const EMPTY: ReadonlySet<string> = new Set(["link", "meta", "source"]);

const NAME = /<\/?([a-z][a-z0-9]*)/iy;
const SPACE = /[\s/]/;

/**
 * Escapes every `<` of a text that begins neither a whole tag of an element that may be there nor a
 * whole comment. Takes linear time.
 *
 * @param allowed the elements that may be shown, in small letters
 */
export function escapeStrayTags(html: string, allowed: ReadonlySet<string>): string {
  const parts: string[] = [];
  const used = new UsedElements(html);
  const lastEndOfComment = html.lastIndexOf("-->");
  let done = 0;
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", Math.max(done, at + 1))) {
    if (html.startsWith("<!--", at) && lastEndOfComment >= at + 2) {
      parts.push(html.slice(done, at));
      done = html.indexOf("-->", at + 2) + "-->".length;
    } else if (!isTag(html, at, allowed, used)) {
      parts.push(html.slice(done, at), "&lt;");
      done = at + 1;
    }
  }
  parts.push(html.slice(done));
  return parts.join("");
}

/** The elements of a text that have both of their tags. */
class UsedElements {
  readonly #html: string;
  /** Where the first tag that begins an element is, and the last one that ends it. */
  readonly #ends = new Map<string, readonly [first: number, last: number]>();

  constructor(html: string) {
    this.#html = html;
  }

  /** Whether a tag at a place has another one, before or behind it. */
  has(element: string, at: number, isEnd: boolean): boolean {
    const known = this.#ends.get(element);
    const [first, last] = known ?? [
      this.#html.search(new RegExp(`<${element}[\\s/>]`, "i")),
      this.#html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()).lastIndexOf(`</${element}`),
    ];
    if (known === undefined) this.#ends.set(element, [first, last]);
    return isEnd ? first >= 0 && first < at : last > at;
  }
}

function isTag(
  html: string,
  at: number,
  allowed: ReadonlySet<string>,
  used: UsedElements,
): boolean {
  NAME.lastIndex = at;
  const [whole = "", name = ""] = NAME.exec(html) ?? [];
  const element = name.toLowerCase();
  if (whole.startsWith("</") && html[skipSpaces(html, at + whole.length)] !== ">") return false;
  if (!allowed.has(element)) {
    if (!LEFT_OUT.has(element)) return false;
    const isBare = html[at + whole.length] === ">" && element !== "wbr";
    if (isBare && (EMPTY.has(element) || !used.has(element, at, whole.startsWith("</")))) {
      return false;
    }
  }
  return endsTag(html, at + whole.length);
}

/**
 * Whether attributes and the end of a tag follow. A value in quotes has no `<` and no empty line:
 * it would rather be an open quote.
 */
function endsTag(html: string, from: number): boolean {
  let at = from;
  for (let isApart = false;; isApart = false) {
    for (; isSpace(html[at]); at++) isApart = true;
    if (html[at] === ">") return true;
    const name = skip(html, at, "\"'<>/=");
    if (!isApart || name === at) return false;
    at = name;
    let value = skipSpaces(html, at);
    if (html[value] !== "=") continue;
    value = skipSpaces(html, value + 1);
    const quote = html[value];
    if (quote !== '"' && quote !== "'") {
      at = skip(html, value, "\"'<>=`");
      if (at === value) return false;
      continue;
    }
    at = value + 1;
    while (at < html.length && html[at] !== quote && html[at] !== "<") {
      if (html[at] === "\n" && html[at + 1] === "\n") return false;
      at++;
    }
    if (html[at] !== quote) return false;
    at++;
  }
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && SPACE.test(character);
}

/** The first place from here that is a space or one of these characters, or the end. */
function skip(html: string, from: number, stops: string): number {
  let at = from;
  while (at < html.length && !/\s/.test(html[at] ?? "") && !stops.includes(html[at] ?? "")) at++;
  return at;
}

function skipSpaces(html: string, from: number): number {
  let at = from;
  while (at < html.length && /\s/.test(html[at] ?? "")) at++;
  return at;
}
