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

/** Whether a message continues the one before it, so that the name is not repeated. */
export function continues(before: ChatLine | null, line: ChatLine): boolean {
  return before !== null && before.nick === line.nick && line.time - before.time < TOGETHER &&
    !line.text.startsWith("* ") && !before.text.startsWith("* ");
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

function isOfNick(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_\-[\]\\`^{}|]/u.test(character);
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
const COLORS = 6;
