/**
 * The commands of a `git fast-export` stream.
 *
 * @see {@link https://git-scm.com/docs/git-fast-import}
 */
import { Buffer } from "node:buffer";
import { encodeUtf8, joinBytes } from "../../codec/mod.ts";
import { readPath } from "./path.ts";
import { StreamReader } from "./reader.ts";
import { decodeText, encodeText, readable } from "./text.ts";

/** A change of a commit's tree. Contents are named by mark; inline ones have negative marks. */
export type GitChange =
  | {
    readonly kind: "write";
    readonly path: string;
    readonly mode: string;
    readonly content: string | number;
  }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "rename" | "copy"; readonly from: string; readonly path: string }
  /** A note on a commit, which is named as the stream names it. */
  | { readonly kind: "note"; readonly commit: string; readonly content: string | number }
  | { readonly kind: "clear" };

/** One command; `line` is where it begins. */
export type GitCommand =
  | { readonly kind: "blob"; readonly mark: number | null; readonly content: Uint8Array }
  | GitCommit
  | GitTag
  /** Another mark for a marked object. */
  | { readonly kind: "alias"; readonly line: number; readonly mark: number; readonly to: string }
  | {
    readonly kind: "reset";
    readonly line: number;
    readonly ref: string;
    readonly from: string | null;
  };

/** A commit as the stream has it. */
export interface GitCommit {
  readonly kind: "commit";
  readonly line: number;
  readonly ref: string;
  readonly mark: number | null;
  /** Name, address, seconds and zone in one line; null if equal to the committer's. */
  readonly author: string | null;
  readonly committer: string;
  readonly message: string;
  /** Name of the encoding that the message and the persons were in, null for UTF-8. */
  readonly encoding: string | null;
  /** Headers of Git behind the committer, with their line ends: encoding and signatures. */
  readonly further: string;
  /** What the commit has behind its tree and parents, if the texts here are not all of it. */
  readonly rest: Uint8Array | null;
  readonly from: string | null;
  readonly merges: readonly string[];
  readonly changes: readonly GitChange[];
}

/** An annotated tag. */
export interface GitTag {
  readonly kind: "tag";
  readonly line: number;
  readonly name: string;
  readonly mark: number | null;
  readonly from: string;
  readonly tagger: string | null;
  readonly message: string;
  /** As of a commit. */
  readonly encoding: string | null;
}

/** Longest message of a commit or tag, in bytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Most changes and parents of one commit. */
const MAX_CHANGES = 1_000_000;
/** Most characters in the change lines of one commit. */
const MAX_CHANGES_LENGTH = 128 * 1024 * 1024;
const MAX_PARENTS = 256;
/** Commands that control or query the importing program; ignored. */
const IGNORED =
  /^(?:progress |checkpoint$|option |ls |original-oid |$|feature (?:date-format=raw|date-format=raw-permissive|export-marks|import-marks|import-marks-if-exists|relative-marks|no-relative-marks|force|notes|original-oid|get-mark|cat-blob|ls)(?:=|$))/;
/** The stream promises `done` at its end. */
const ENDS_WITH_DONE = "feature done";
/** The name of the encoding that needs no conversion. */
const UTF8 = /^utf-?8$/i;
/** What may stand in place of each line of a command: comments and queries; ignored. */
const ANYWHERE = /^(?:#|cat-blob |get-mark )/;

/** Reads the commands of a stream one after another. */
export class CommandReader {
  readonly #reader: StreamReader;
  readonly #maxFileBytes: number;
  #inlineMark = 0;
  #isDone = false;

  constructor(reader: StreamReader, maxFileBytes: number) {
    this.#reader = reader;
    this.#maxFileBytes = maxFileBytes;
  }

  /** Whether the stream ended with `done`. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Every command up to the end of the stream.
   *
   * @throws {FossilError} `invalid` with the number of the malformed line, also if a limit is
   * exceeded.
   */
  async *commands(): AsyncGenerator<GitCommand> {
    let needsDone = false;
    for (let line = await this.#line(); line !== null; line = await this.#line()) {
      if (line === "done") {
        this.#isDone = true;
        return;
      }
      if (line === ENDS_WITH_DONE) needsDone = true;
      else if (line === "blob") yield await this.#blob();
      else if (line.startsWith("commit ")) yield* this.#commit(line.slice(7));
      else if (line.startsWith("tag ")) yield await this.#tag(line.slice(4));
      else if (line.startsWith("reset ")) yield await this.#reset(line.slice(6));
      else if (line === "alias") yield await this.#alias();
      else if (!IGNORED.test(line)) {
        throw this.#reader.error(`"${line.slice(0, 60)}" is not a command that can be imported`);
      }
    }
    if (needsDone) throw this.#reader.error('The stream is cut off: its "done" is missing');
  }

  /** The next line that is neither a comment nor a query. */
  async #line(): Promise<string | null> {
    let line = await this.#reader.line();
    while (line !== null && ANYWHERE.test(line)) line = await this.#reader.line();
    return line;
  }

  /** The rest of the next line if it has this prefix; otherwise null, and the line stays unread. */
  async #optional(prefix: string): Promise<string | null> {
    const line = await this.#line();
    if (line?.startsWith(prefix) === true) return line.slice(prefix.length);
    if (line !== null) this.#reader.pushBack(line);
    return null;
  }

  async #mark(): Promise<number | null> {
    const text = await this.#optional("mark ");
    if (text === null) return null;
    const mark = this.#markOf(text);
    await this.#optional("original-oid ");
    return mark;
  }

  #markOf(text: string): number {
    const mark = /^:[0-9]{1,15}$/.test(text) ? Number(text.slice(1)) : 0;
    if (mark < 1) throw this.#reader.error(`"${text.slice(0, 60)}" is not a mark`);
    return mark;
  }

  /** A `data` command. */
  async #data(maxBytes: number): Promise<Uint8Array> {
    const text = await this.#optional("data ");
    if (text === null) throw this.#reader.error('"data" is missing');
    if (text.startsWith("<<")) {
      const content = await this.#reader.until(encodeText(text.slice(2)), maxBytes);
      await this.#reader.skipLineFeed();
      return content;
    }
    const length = /^[0-9]{1,15}$/.test(text) ? Number(text) : -1;
    if (length < 0) throw this.#reader.error(`"${text.slice(0, 60)}" is not a length`);
    if (length > maxBytes) {
      throw this.#reader.error(`Data of ${length} bytes is over the limit of ${maxBytes}`);
    }
    const content = await this.#reader.take(length);
    await this.#reader.skipLineFeed();
    return content;
  }

  async #blob(): Promise<GitCommand> {
    const mark = await this.#mark();
    await this.#optional("original-oid ");
    return { kind: "blob", mark, content: await this.#data(this.#maxFileBytes) };
  }

  async *#commit(ref: string): AsyncGenerator<GitCommand> {
    const line = this.#reader.lineNumber;
    const mark = await this.#mark();
    await this.#optional("original-oid ");
    const author = await this.#optional("author ");
    const committer = await this.#optional("committer ");
    if (committer === null) throw this.#reader.error('A commit needs a "committer"');
    let signatures = "";
    for (let kind = await this.#optional("gpgsig "); kind !== null;) {
      const header = kind.startsWith("sha256") ? "gpgsig-sha256" : "gpgsig";
      const signature = decodeText(await this.#data(MAX_MESSAGE_BYTES));
      signatures += `${header} ${signature.replaceAll("\n", "\n ")}\n`;
      kind = await this.#optional("gpgsig ");
    }
    const declared = await this.#optional("encoding ");
    const message = await this.#message(declared);
    const from = await this.#optional("from ");
    const merges: string[] = [];
    for (let text = await this.#optional("merge "); text !== null;) {
      merges.push(text);
      if (merges.length > MAX_PARENTS) throw this.#reader.error("A commit has too many parents");
      text = await this.#optional("merge ");
    }
    const changes: GitChange[] = [];
    for await (const change of this.#changes()) {
      if (change.kind === "blob") yield change;
      else changes.push(change);
      if (changes.length > MAX_CHANGES) throw this.#reader.error("A commit has too many changes");
    }
    const isConverted = !committer.isWellFormed() || author?.isWellFormed() === false;
    const further = (declared === null ? "" : `encoding ${declared}\n`) + signatures;
    const persons = [author ?? committer, committer];
    const headOf = ([by, to]: readonly string[]) => `author ${by}\ncommitter ${to}\n${further}\n`;
    const whole = joinBytes([encodeText(headOf(persons)), message.bytes]);
    const shown = headOf(persons.map((line) => personLine(line, declared))) + message.text;
    const isKept = Buffer.compare(whole, encodeUtf8(shown)) === 0 && !shown.includes("\0");
    yield {
      kind: "commit",
      line,
      ref,
      mark,
      author: author === null ? null : personLine(author, declared),
      committer: personLine(committer, declared),
      message: message.text,
      encoding: message.encoding ?? (isConverted ? "unknown" : null),
      further: further.isWellFormed() ? further : "",
      rest: isKept ? null : whole,
      from,
      merges,
      changes,
    };
  }

  async #message(
    declared: string | null,
  ): Promise<{ bytes: Uint8Array; text: string; encoding: string | null }> {
    const bytes = await this.#data(MAX_MESSAGE_BYTES);
    const decoder = decoderOf(declared);
    if (decoder !== null) return { bytes, text: decoder.decode(bytes), encoding: declared };
    const text = decodeText(bytes);
    const isForeign = declared !== null && !UTF8.test(declared);
    const isKept = text.isWellFormed() && !isForeign;
    return { bytes, text: readable(text), encoding: isKept ? null : declared ?? "unknown" };
  }

  /** Changes of a commit; inline contents precede their change. */
  async *#changes(): AsyncGenerator<GitChange | (GitCommand & { kind: "blob" })> {
    let length = 0;
    for (let line = await this.#line(); line !== null; line = await this.#line()) {
      length += line.length;
      if (length > MAX_CHANGES_LENGTH) throw this.#reader.error("A commit has too many changes");
      if (line.startsWith("ls ")) continue;
      const change = this.#change(line);
      if (change === null) {
        if (line !== "") this.#reader.pushBack(line);
        return;
      }
      if ("content" in change && change.content === "inline") {
        const mark = --this.#inlineMark;
        yield { kind: "blob", mark, content: await this.#data(this.#maxFileBytes) };
        yield { ...change, content: mark };
      } else yield change;
    }
  }

  #change(line: string): GitChange | null {
    if (line === "deleteall") return { kind: "clear" };
    const text = line.slice(2);
    switch (line.slice(0, 2)) {
      case "M ": {
        const match = /^([0-7]{1,6}) (\S+) (.*)$/s.exec(text);
        if (match === null) throw this.#reader.error("A change is malformed");
        const content = match[2]!.startsWith(":") ? this.#markOf(match[2]!) : match[2]!;
        return { kind: "write", mode: match[1]!, content, path: this.#path(match[3]!) };
      }
      case "D ":
        return { kind: "delete", path: this.#path(text) };
      case "R ":
      case "C ": {
        const first = readPath(text, true);
        if (first === null || first.rest === "") throw this.#reader.error("A path is malformed");
        const kind = line.startsWith("R") ? "rename" : "copy";
        return { kind, from: first.path, path: this.#path(first.rest) };
      }
      case "N ": {
        const match = /^(\S+) (\S+)$/.exec(text);
        if (match === null) throw this.#reader.error("A note is malformed");
        const content = match[1]!.startsWith(":") ? this.#markOf(match[1]!) : match[1]!;
        return { kind: "note", content, commit: match[2]! };
      }
      default:
        return null;
    }
  }

  #path(text: string): string {
    const read = readPath(text, false);
    if (read === null) throw this.#reader.error("A path is malformed");
    return read.path;
  }

  async #tag(name: string): Promise<GitCommand> {
    const line = this.#reader.lineNumber;
    const mark = await this.#mark();
    const from = await this.#optional("from ");
    if (from === null) throw this.#reader.error('A tag needs a "from"');
    await this.#optional("original-oid ");
    const tagger = await this.#optional("tagger ");
    const { text: message, encoding } = await this.#message(null);
    const isConverted = tagger?.isWellFormed() === false;
    return {
      kind: "tag",
      line,
      name,
      mark,
      from,
      tagger: tagger === null ? null : personLine(tagger, null),
      message,
      encoding: encoding ?? (isConverted ? "unknown" : null),
    };
  }

  async #alias(): Promise<GitCommand> {
    const line = this.#reader.lineNumber;
    const [mark, to] = [await this.#mark(), await this.#optional("to ")];
    if (mark === null || to === null) throw this.#reader.error("An alias is malformed");
    return { kind: "alias", line, mark, to };
  }

  async #reset(ref: string): Promise<GitCommand> {
    const line = this.#reader.lineNumber;
    return { kind: "reset", line, ref, from: await this.#optional("from ") };
  }
}

/** Decoder of an encoding that the runtime knows, null for UTF-8 and unknown ones. */
function decoderOf(encoding: string | null): TextDecoder | null {
  if (encoding === null || UTF8.test(encoding)) return null;
  try {
    return new TextDecoder(encoding);
  } catch {
    return null;
  }
}

/** A line with a person, in the encoding of the message that follows it, or in UTF-8. */
function personLine(line: string, encoding: string | null): string {
  const decoder = line.isWellFormed() ? null : decoderOf(encoding);
  const text = decoder === null ? readable(line) : decoder.decode(encodeText(line));
  return text.replaceAll("\0", "");
}
