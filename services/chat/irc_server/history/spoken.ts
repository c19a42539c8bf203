/** What the content of a record says, for the search. */

/** The part of a stored message that a search looks at. */
interface StoredMessage {
  /** Source, command and parameters. */
  readonly head?: string;
  readonly text?: string | readonly { readonly text: string }[];
  /** Tags of the client. */
  readonly client?: readonly (readonly [string, string])[];
}

/** Who says something. */
export interface Spoken {
  readonly nick: string;
  /** The lines as they are shown. */
  readonly lines: readonly string[];
}

/** What a search looks for in each line. All of it must be there. */
export interface SoughtWords {
  /** In lower case. */
  readonly words: readonly string[];
  /** The nicks that all are the speaker's. */
  readonly speakers: readonly string[];
}

const ACTION = "\x01ACTION ";

/** What an ACTION is shown with, but not stored. */
const ACTION_SIGN = "*";

/** LIKE knows the case of these letters alone. */
const ASCII = /^\p{ASCII}*$/u;

/** Letters that are the lower case of others beyond ASCII too. */
const WITH_OTHER_CAPITALS = /[ik]/g;

/**
 * What a record says, and who.
 *
 * @param speakerTag the tag with the nick for whom a message was said; its text then begins with
 * that nick in brackets
 */
export function spokenIn(content: string, speakerTag: string): Spoken {
  const { head = "", text = "", client = [] } = storedIn(content);
  const source = /^:([^! ]*)/.exec(head)?.[1] ?? "";
  const [, nick = source] = client.find(([key]) => key === speakerTag) ?? [];
  const prefix = `[${nick}] `;
  const lines = (typeof text === "string" ? [text] : text.map((line) => line.text)).map((line) => {
    if (line.slice(0, ACTION.length).toUpperCase() === ACTION) {
      return `${ACTION_SIGN} ${source} ${line.slice(ACTION.length)}`;
    }
    return nick !== source && line.startsWith(prefix) ? line.slice(prefix.length) : line;
  });
  return { nick, lines };
}

/** Content that this program did not write says nothing. */
function storedIn(content: string): StoredMessage {
  try {
    return JSON.parse(content) as StoredMessage;
  } catch {
    return {};
  }
}

/** Decides whether records have what a search looks for, or nearly so: it may take too many. */
export class SpokenMatcher {
  /** Patterns of SQL's LIKE that are like the content of each such record; `\` escapes. */
  readonly patterns: readonly string[];
  readonly #sought: SoughtWords;
  readonly #speakerTag: string;

  constructor(sought: SoughtWords, speakerTag: string) {
    this.#sought = sought;
    this.#speakerTag = speakerTag;
    const written = sought.words.filter((word) => ASCII.test(word) && word !== ACTION_SIGN);
    this.patterns = written.map((word) => {
      const json = JSON.stringify(word).slice(1, -1).replaceAll(/[%_\\]/g, "\\$&");
      return `%${json.replaceAll(WITH_OTHER_CAPITALS, "_")}%`;
    });
  }

  /** Whether a record of this content has it. */
  matches(content: string): boolean {
    const { nick, lines } = spokenIn(content, this.#speakerTag);
    const { words, speakers } = this.#sought;
    return speakers.every((speaker) => speaker.toLowerCase() === nick.toLowerCase()) &&
      lines.some((line) => {
        const lower = line.toLowerCase();
        return words.every((word) => lower.includes(word));
      });
  }
}
