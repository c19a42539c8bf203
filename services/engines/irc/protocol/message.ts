/**
 * Parses and formats IRC messages, each one line of text.
 *
 * Follows modern.ircdocs.horse "Message format" and the IRCv3 document "Message Tags".
 */

/** A message from a client. */
export interface Message {
  /** Values with their escapes resolved; a tag without a value has the empty string. */
  readonly tags: ReadonlyMap<string, string>;
  /** The name that a client claims; servers ignore it. */
  readonly source: string | null;
  /** In upper case. */
  readonly command: string;
  readonly params: readonly string[];
}

/** A message to format; the last parameter may be any text. */
export interface MessageParts {
  readonly tags?: ReadonlyMap<string, string>;
  readonly source?: string | null;
  readonly command: string;
  readonly params?: readonly string[];
}

const NO_TAGS: ReadonlyMap<string, string> = new Map();

/** Characters that no line may contain; a last parameter may contain all others. */
const FORBIDDEN = /[\0\r\n]/;

/** Longer than any command, so that an answer can name an unknown one. */
const COMMAND = /^[\w-]+$/;
const UPPER_CASE = /^[A-Z]+$/;
const COLON = 0x3a;

const ESCAPES: Readonly<Record<string, string>> = {
  ";": "\\:",
  " ": "\\s",
  "\\": "\\\\",
  "\r": "\\r",
  "\n": "\\n",
};

const ESCAPED = /[; \\\r\n]/;

const UNESCAPES: Readonly<Record<string, string>> = { ":": ";", s: " ", r: "\r", n: "\n" };

/**
 * Parses a line without its line break.
 *
 * Returns null for a line that is no message: it is empty, has no command, or contains NUL, CR or
 * LF. Never throws.
 */
export function parseMessage(line: string): Message | null {
  if (FORBIDDEN.test(line)) return null;
  let position = 0;
  let tags = NO_TAGS;
  let source: string | null = null;

  if (line.startsWith("@")) {
    const end = line.indexOf(" ");
    if (end === -1) return null;
    tags = parseTags(line.slice(1, end));
    position = skipSpaces(line, end);
  } else {
    position = skipSpaces(line, 0);
  }
  if (line.charCodeAt(position) === COLON) {
    const end = line.indexOf(" ", position);
    if (end === -1) return null;
    source = line.slice(position + 1, end) || null;
    position = skipSpaces(line, end);
  }

  const commandEnd = endOfWord(line, position);
  const command = line.slice(position, commandEnd);
  const isUpperCase = UPPER_CASE.test(command);
  if (!isUpperCase && !COMMAND.test(command)) return null;
  const params = parseParams(line, skipSpaces(line, commandEnd));
  return { tags, source, command: isUpperCase ? command : command.toUpperCase(), params };
}

function parseParams(line: string, from: number): string[] {
  if (from === line.length) return [];
  if (line.charCodeAt(from) === COLON) return [line.slice(from + 1)];
  const end = endOfWord(line, from);
  const first = line.slice(from, end);
  let position = skipSpaces(line, end);
  // An array that grows takes memory for seventeen, and most messages have two parameters.
  if (line.charCodeAt(position) === COLON) return [first, line.slice(position + 1)];
  const params = [first];
  while (position < line.length) {
    if (line.charCodeAt(position) === COLON) {
      params.push(line.slice(position + 1));
      break;
    }
    const end = endOfWord(line, position);
    params.push(line.slice(position, end));
    position = skipSpaces(line, end);
  }
  return params;
}

/** Formats a message, without a line break. The inverse of {@linkcode parseMessage}. */
export function formatMessage(parts: MessageParts): string {
  const tags = parts.tags && parts.tags.size > 0 ? `@${formatTags(parts.tags)} ` : "";
  const source = parts.source ? `:${parts.source} ` : "";
  return `${tags}${source}${parts.command}${formatParams(parts.params ?? [])}`;
}

/**
 * Formats parameters with a space before each.
 *
 * The last one gets a colon if it needs one, or always with `trailing`. An earlier parameter that
 * is empty, contains a space or begins with a colon becomes `*`. So an error can quote anything
 * that a client sent.
 */
export function formatParams(params: readonly string[], trailing = false): string {
  let text = "";
  const last = params.length - 1;
  for (let index = 0; index < last; index++) {
    const param = params[index] as string;
    text += isMiddle(param) ? ` ${param}` : " *";
  }
  if (last < 0) return text;
  const param = params[last] as string;
  return trailing || !isMiddle(param) ? `${text} :${param}` : `${text} ${param}`;
}

/** Formats tags, without the `@` and the space after them. */
export function formatTags(tags: Iterable<readonly [string, string]>): string {
  let text = "";
  for (const [key, value] of tags) {
    if (text !== "") text += ";";
    text += value === "" ? key : `${key}=${escapeTagValue(value)}`;
  }
  return text;
}

function parseTags(text: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const tag of text.split(";")) {
    if (tag === "") continue;
    const equals = tag.indexOf("=");
    if (equals === -1) tags.set(tag, "");
    else if (equals > 0) tags.set(tag.slice(0, equals), unescapeTagValue(tag.slice(equals + 1)));
  }
  return tags;
}

function escapeTagValue(value: string): string {
  // Most values need no escape, and `replaceAll` is slow even where nothing matches.
  if (!ESCAPED.test(value)) return value;
  return value.replaceAll(/[; \\\r\n]/g, (character) => ESCAPES[character] as string);
}

function unescapeTagValue(value: string): string {
  if (!value.includes("\\")) return value;
  return value.replace(/\\(.?)/gu, (_, character: string) => UNESCAPES[character] ?? character);
}

/** Whether a parameter can stand before another one, or before a free text. */
export function isMiddle(param: string): boolean {
  return param !== "" && param.charCodeAt(0) !== COLON && !param.includes(" ");
}

function skipSpaces(line: string, from: number): number {
  let position = from;
  while (line.charCodeAt(position) === 0x20) position++;
  return position;
}

function endOfWord(line: string, from: number): number {
  const end = line.indexOf(" ", from);
  return end === -1 ? line.length : end;
}
