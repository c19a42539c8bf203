/** Rules for the look of a channel that the server and the browser share. */

/** How long somebody's messages belong together, in milliseconds. */
const TOGETHER = 5 * 60_000;

/** What the rules need of a message. */
export interface ChatLine {
  readonly nick: string;
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** After so many lines under one name, the name is repeated. */
const LINES_OF_NAME = 10;

/**
 * Decides which messages stand below the name of the one before. The name is repeated after some
 * lines and some minutes, so that it is never far from what somebody reads.
 */
export class Runs {
  #before: ChatLine | null = null;
  /** The message with the name, and how many are below it. */
  #head: ChatLine | null = null;
  #lines = 0;
  #wasCode = false;

  /**
   * Whether a message needs no name of its own.
   *
   * @param isCode whether it belongs to a code block, which no name divides
   */
  next(line: ChatLine, isCode: boolean): boolean {
    const isInside = isCode && this.#wasCode;
    const continues = this.#continues(line) && (isInside || !this.#isLong(line));
    this.keep(line, isCode, continues);
    return continues;
  }

  /** Takes a message as it already stands. */
  keep(line: ChatLine, isCode: boolean, continues: boolean): void {
    this.#before = line;
    this.#wasCode = isCode;
    if (!continues) {
      this.#head = line;
      this.#lines = 0;
    } else if (!isCode) {
      this.#lines++;
    }
  }

  /** Something stands between the last message and the next. */
  part(): void {
    this.#before = null;
  }

  #continues({ nick, text, time }: ChatLine): boolean {
    const before = this.#before;
    return before !== null && before.nick === nick && time - before.time < TOGETHER &&
      !text.startsWith("* ") && !before.text.startsWith("* ");
  }

  #isLong({ time }: ChatLine): boolean {
    return this.#head === null || this.#lines + 1 >= LINES_OF_NAME ||
      time - this.#head.time >= TOGETHER;
  }
}

/**
 * Finds the lines of code blocks, which go from a line that begins with ``` to the next one of the
 * same speaker.
 */
export class Fences {
  /** Who is in a block. */
  #speaker: string | null = null;

  /** Whether the next line of the channel belongs to a block: its fence, its code, or no. */
  next({ nick, text }: ChatLine): "fence" | "code" | null {
    const isFence = text.startsWith("```") && !text.slice(3).includes("```");
    if (this.#speaker !== null && this.#speaker !== nick) this.#speaker = null;
    if (isFence) {
      this.#speaker = this.#speaker === null ? nick : null;
      return "fence";
    }
    return this.#speaker === null ? null : "code";
  }
}

/** Whether a text names somebody, as a word. */
export function names(text: string, nick: string): boolean {
  const [lower, wanted] = [text.toLowerCase(), nick.toLowerCase()];
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + 1)) {
    if (!isOfNick(lower[at - 1]) && !isOfNick(lower[at + wanted.length])) return true;
  }
  return false;
}

/** In the line of a review that its author, or somebody for them, put into the landing queue. */
const QUEUED = " waits in the landing queue of ";

/**
 * Whether a message addresses somebody. A line of muster itself names whose act it tells of first, and
 * quotes titles and texts: neither addresses anybody. `ann: …` does, from any speaker.
 *
 * @param isProgram whether muster or one of its bots says it
 */
export function addresses(
  { nick, text }: Pick<ChatLine, "nick" | "text">,
  own: string,
  isProgram: boolean,
): boolean {
  if (nick.toLowerCase() === own.toLowerCase() || !names(text, own)) return false;
  if (!isProgram) return true;
  const told = text.startsWith("[") ? text.slice(text.indexOf("]") + 1).trimStart() : text;
  const end = told.indexOf(" ");
  const first = end === -1 ? told : told.slice(0, end);
  if (first.toLowerCase() === own.toLowerCase() || told.includes(QUEUED)) return false;
  return names(withoutQuotes(first.endsWith(":") ? told : beforeExcerpt(told)), own);
}

/** A line without the text that it reports after a colon. */
function beforeExcerpt(text: string): string {
  const colon = text.indexOf(": ");
  return colon === -1 ? text : text.slice(0, colon);
}

/** A line without what stands between quotation marks. */
function withoutQuotes(text: string): string {
  return text.split("“").map((part, index) =>
    index === 0 ? part : part.slice(part.lastIndexOf("”") + 1)
  ).join(" ");
}

function isOfNick(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_\-[\]\\`^{}|]/u.test(character);
}

/** Whether a text tells what its speaker does. */
export function isAction(nick: string, text: string): boolean {
  return text.startsWith(`* ${nick} `);
}

/** The lasting link to a message, from the page of its channel. */
export function linkTo(id: string): string {
  const encoded = encodeURIComponent(id);
  return `?at=${encoded}#m-${encoded}`;
}

/** The link to answer a message. */
export function answerTo(id: string): string {
  return `?reply=${encodeURIComponent(id)}#say`;
}

/** A number of messages as a badge shows it. */
export function countOf(count: number): string {
  return count > 99 ? "99+" : String(count);
}

/** One of the colors of names; the same for every message of a nick. */
export function colorOf(nick: string): number {
  let sum = 7;
  for (const character of nick.toLowerCase()) {
    sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  }
  return sum % COLORS;
}

/** How many colors of names the style sheet has. */
const COLORS = 12;
