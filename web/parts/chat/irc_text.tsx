import type { Child } from "hono/jsx";

/** The styles of IRC formatting that are shown. Colors are not: they may be unreadable. */
type Style = "strong" | "em" | "u" | "s" | "code";

const STYLES: Readonly<Record<string, Style>> = {
  "\x02": "strong",
  "\x1d": "em",
  "\x1f": "u",
  "\x1e": "s",
  "\x11": "code",
};

const RESET = "\x0f";

/** Codes of colors, with what follows them (modern.ircdocs.horse/formatting). */
const COLORS: Readonly<Record<string, RegExp>> = {
  "\x03": /(?:\d{1,2}(?:,\d{1,2})?)?/y,
  "\x04": /(?:[\da-f]{6}(?:,[\da-f]{6})?)?/iy,
};

/** Control characters; a tab is ordinary text. */
const CONTROL = /(?!\t)\p{Cc}/gu;

/** Marks that would turn the text around them. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** A run of text in one style. */
interface Run {
  readonly text: string;
  readonly styles: ReadonlySet<Style>;
}

/** How a text of IRC is shown. */
export interface IrcTextProps {
  readonly text: string;
  /** Whether `#12` leads to the ticket of the page's channel. */
  readonly hasTickets?: boolean;
}

/**
 * A text of IRC as people read it: with its styles, `code`, and links to what looks like a web
 * address, a channel or a ticket.
 */
export function IrcText({ text, hasTickets = false }: IrcTextProps): Child {
  return (
    <>
      {runsOf(text).map(({ text: run, styles }) => styled(inner(run, styles, hasTickets), styles))}
    </>
  );
}

/** Whether {@linkcode IrcText} shows a text as it is: it has no styles, no code and no links. */
export function isPlainText(text: string): boolean {
  return !MAY_HAVE_PARTS.test(text) && text.search(CONTROL) === -1 && text.search(TURNING) === -1;
}

/** A text of IRC without any formatting. */
export function plainText(text: string): string {
  return runsOf(text).map((run) => run.text).join("");
}

function runsOf(text: string): Run[] {
  const runs: Run[] = [];
  let styles: ReadonlySet<Style> = new Set();
  let from = 0;
  const add = (to: number) => {
    const run = text.slice(from, to).replace(TURNING, "");
    if (run !== "") runs.push({ text: run, styles });
  };
  for (const { 0: code, index } of text.matchAll(CONTROL)) {
    add(index);
    from = index + 1 + colorLength(text, index, code);
    styles = changed(styles, code);
  }
  add(text.length);
  return runs;
}

/** The length of the color after a code; 0 after any other code. */
function colorLength(text: string, index: number, code: string): number {
  const color = COLORS[code];
  if (color === undefined) return 0;
  color.lastIndex = index + 1;
  return color.exec(text)?.[0].length ?? 0;
}

function changed(styles: ReadonlySet<Style>, code: string): ReadonlySet<Style> {
  if (code === RESET) return new Set();
  const style = STYLES[code];
  if (style === undefined) return styles;
  return styles.has(style) ? styles.difference(new Set([style])) : new Set([...styles, style]);
}

function styled(content: Child, styles: ReadonlySet<Style>): Child {
  let wrapped = content;
  for (const Style of styles) wrapped = <Style>{wrapped}</Style>;
  return wrapped;
}

/** Three backquotes, code between single ones, an address, a ticket, or a channel. */
const PART =
  /```|`([^`]+)`|\bhttps?:\/\/[^\s<>"`\u2028\u2029]+|(?<![^\s([{"'])#(?:[1-9][0-9]{0,8}(?![\p{L}\p{N}_-])|\p{L}[\p{L}\p{N}_-]*)/giu;

/** Characters that end a sentence rather than an address. */
const TRAILING = /[.,;:!?'*_~]/;

const FENCE = "```";

/** What every {@linkcode PART} has. */
const MAY_HAVE_PARTS = /[`#]|:\/\//;

function inner(text: string, styles: ReadonlySet<Style>, hasTickets: boolean): Child {
  if (styles.has("code") || !MAY_HAVE_PARTS.test(text)) return text;
  const parts: Child[] = [];
  let from = 0;
  for (const match of text.matchAll(PART)) {
    if (match.index < from) continue;
    const [whole, single] = match;
    const isTicket = /^#[0-9]/.test(whole);
    if (isTicket && !hasTickets) continue;
    const isFence = whole === FENCE;
    const end = isFence ? text.indexOf(FENCE, match.index + FENCE.length + 1) : -1;
    if (isFence && end < 0) continue;
    const code = isFence ? text.slice(match.index + FENCE.length, end) : single;
    const shown = code ?? addressIn(whole);
    parts.push(text.slice(from, match.index));
    if (isTicket) parts.push(<a href={`?ticket=${shown.slice(1)}`}>{shown}</a>);
    else if (whole.startsWith("#")) parts.push(<ChannelLink name={shown} />);
    else parts.push(code === undefined ? <Address text={shown} /> : <code>{shown}</code>);
    const length = code === undefined ? shown.length : whole.length;
    from = isFence ? end + FENCE.length : match.index + length;
  }
  parts.push(text.slice(from));
  return <>{parts}</>;
}

/** The address at the start of a text, without what ends the sentence around it. */
function addressIn(text: string): string {
  let unopened = count(text, ")") - count(text, "(");
  let end = text.length;
  for (; end > 0; end--) {
    const last = text.charAt(end - 1);
    if (last === ")" && unopened > 0) unopened--;
    else if (!TRAILING.test(last)) break;
  }
  return text.slice(0, end);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

function ChannelLink({ name }: { readonly name: string }) {
  return <a href={`/channels/${encodeURIComponent(name.slice(1))}`}>{name}</a>;
}

function Address({ text }: { readonly text: string }) {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return <>{text}</>;
  return <a href={url.href} rel="noopener noreferrer nofollow">{text}</a>;
}
