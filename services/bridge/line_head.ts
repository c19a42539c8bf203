/**
 * What decides about a line of a server, and where it stands. Only the space U+0020 separates the
 * parts of a line (modern.ircdocs.horse "Message format"): whatever else Unicode calls white space
 * or the end of a line is text.
 */
export interface LineHead {
  /** As they stand between `@` and the space, escapes and all; empty where there are none. */
  readonly tags: string;
  /** As the server writes it. */
  readonly command: string;
  /** What follows the command. */
  readonly rest: string;
}

const SPACE = 0x20;
const AT = 0x40;
const COLON = 0x3a;

/** Takes the head of a line apart. Never throws. */
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
