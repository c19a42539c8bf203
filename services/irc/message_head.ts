import { formatParams, isMiddle } from "./protocol/message.ts";
import { encodedLength, isAsciiLine, oneLine } from "./protocol/text.ts";

/** The parts of a {@linkcode MessageHead}. */
export interface MessageHeadParts {
  /** `nick!user@host`, or a server's name. */
  readonly source: string | null;
  readonly command: string;
  /** What comes before the free text. */
  readonly params: readonly string[];
}

/** All of a message that comes before its free text, without tags. Messages may share it. */
export class MessageHead implements MessageHeadParts {
  readonly source: string | null;
  readonly command: string;
  readonly params: readonly string[];
  /** Source, command and parameters as a part of a line. */
  readonly text: string;
  /** The length of the text in UTF-8. */
  readonly bytes: number;

  constructor(parts: MessageHeadParts) {
    const { source, command, params } = parts;
    this.source = source;
    this.command = command;
    this.params = params;
    const text = `${source === null ? "" : `:${source} `}${command}${formatParams(params)}`;
    const isAscii = isAsciiLine(text);
    this.text = isAscii ? text : oneLine(text);
    this.bytes = isAscii ? text.length : encodedLength(this.text);
  }

  /**
   * The same with a last parameter that a free text may follow: one that could only end a line
   * becomes `*`, as the others do.
   */
  followed(): MessageHead {
    const last = this.params.at(-1);
    if (last === undefined || isMiddle(last)) return this;
    const { source, command, params } = this;
    return new MessageHead({ source, command, params: [...params.slice(0, -1), "*"] });
  }

  /** Whether it has the same parts. */
  hasParts({ source, command, params }: MessageHeadParts): boolean {
    return this.source === source && this.command === command &&
      this.params.length === params.length &&
      this.params.every((param, index) => param === params[index]);
  }
}
