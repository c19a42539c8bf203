/**
 * The head of a server's line. Only the space U+0020 separates the parts of a line
 * (modern.ircdocs.horse "Message format"); all other white space and line ends of Unicode are text.
 */
export interface LineHead {
  /** The text between `@` and the space, with escapes; empty if there are no tags. */
  readonly tags: string;
  /** As the server writes it. */
  readonly command: string;
  /** The text after the command. */
  readonly rest: string;
}

const SPACE = 0x20;
const AT = 0x40;
const COLON = 0x3a;

/** Parses the head of a line. Never throws. */
export function headOf(line: string): LineHead {
  let position = skipSpaces(line, 0);
  let tags = "";
  if (line.charCodeAt(position) === AT) {
    const end = endOfWord(line, position);
    tags = line.slice(position + 1, end);
    position = skipSpaces(line, end);
  }
  if (line.charCodeAt(position) === COLON) {
    position = skipSpaces(line, endOfWord(line, position));
  }
  const end = endOfWord(line, position);
  return { tags, command: line.slice(position, end), rest: line.slice(skipSpaces(line, end)) };
}

/** Whether there is a tag of this name that has a value. */
export function hasTag(tags: string, name: string): boolean {
  return tags.startsWith(`${name}=`) || tags.includes(`;${name}=`);
}

function skipSpaces(line: string, from: number): number {
  let position = from;
  while (line.charCodeAt(position) === SPACE) position++;
  return position;
}

function endOfWord(line: string, from: number): number {
  const end = line.indexOf(" ", from);
  return end === -1 ? line.length : end;
}
