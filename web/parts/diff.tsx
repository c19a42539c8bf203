import type { Child } from "hono/jsx";
import type { z } from "zod";
import type { diffSchema } from "../../services/work/code/schemas.ts";
import {
  type DiffHunk,
  type DiffLine,
  type DiffPair,
  type DiffSide,
  type DiffWord,
  hunksOf,
  linesOf,
  pairsOf,
  WordMarks,
} from "./diff_rows.ts";
import { sizeOf } from "./code.tsx";
import { Slices } from "./slices.tsx";

/** A changed file, as `GET /api/diff` shows it. */
export type DiffFile = z.output<typeof diffSchema>["files"][number];

/** How lines stand: one below the other, or the old beside the new. */
export type DiffLayout = "unified" | "split";

/** Lines of a page; the rest of a file is on its own page. */
const [MAX_LINES, MAX_LINES_OF_FILE] = [1500, 500];

/** Lines of a part of a long diff that has a page of its own. */
export const LINES_OF_PART = 1500;

/** What a page adds to the lines of a diff. */
export interface DiffSlots {
  /** What stands below a line, such as its comments; null for nothing. */
  readonly below?: (file: string, side: DiffSide, line: number) => Child | null;
  /** Where the number of a line leads; undefined for nowhere. */
  readonly to?: (file: string, side: DiffSide, line: number) => string | undefined;
}

export interface DiffProps extends DiffSlots {
  readonly files: readonly DiffFile[];
  readonly layout: DiffLayout;
  /** The address that shows the diff of this file alone, for diffs that are too long here. */
  readonly aloneAt: (file: DiffFile) => string;
  /** Links in the head of a file, such as the way to the file. */
  readonly links?: (file: DiffFile) => Child;
  /** The part of a single file that is shown, from 1; see {@link partsOf}. */
  readonly part?: number;
  /** The address of the lines of a file after the change, for those between the hunks. */
  readonly linesAt?: (file: DiffFile) => string;
  /** Under which name this browser keeps the marks of files that were viewed. */
  readonly viewed?: string;
}

/** Ends of the names of files that programs write, and folders of such files. They are folded. */
const GENERATED = [
  /[.-]lock(?:\.(?:json|yaml|yml))?$/i,
  /\.min\.(?:js|css)$|\.(?:js|css)\.map$/i,
  /(?:^|\/)(?:go\.sum|npm-shrinkwrap\.json)$/i,
  /(?:^|\/)(?:node_modules|vendor)\//i,
];

/** The differences of files, line by line. Each file can be folded. */
export async function Diff(props: DiffProps) {
  const marks = new WordMarks();
  const slices = new Slices();
  const shown: Child[] = [];
  let left = MAX_LINES;
  for (const file of props.files) {
    const length = linesOf(file.diff);
    const isLong = props.part === undefined && length > Math.min(left, MAX_LINES_OF_FILE);
    if (!isLong) left -= length;
    const isGenerated = props.files.length > 1 && GENERATED.some((name) => name.test(file.name));
    const body = await fileBody({ ...props, file, length, isLong, marks, slices });
    shown.push(
      <details
        class="diff-file"
        open={!isGenerated}
        id={anchorOf(file.name)}
        data-version={file.uuid ?? "deleted"}
      >
        <summary>
          <FileHead file={file} isGenerated={isGenerated} />
        </summary>
        {props.links !== undefined && <p class="diff-links">{props.links(file)}</p>}
        {body}
      </details>,
    );
  }
  return <div class="diff" data-keys="list" data-viewed={props.viewed}>{shown}</div>;
}

/** The id of a file's diff on its page. */
export function anchorOf(name: string): string {
  return `f-${encodeURIComponent(name.toWellFormed())}`;
}

/** In how many parts the diff of a file is shown that has a page of its own. */
export function partsOf(file: DiffFile): number {
  return Math.max(1, Math.ceil(linesOf(file.diff) / LINES_OF_PART));
}

const CHANGES: Readonly<Record<DiffFile["change_type"], readonly [words: string, look: string]>> = {
  added: ["added", "good"],
  deleted: ["deleted", "bad"],
  modified: ["changed", ""],
  renamed: ["renamed", "accent"],
};

/** The kind of a change, in a word. */
export function ChangeBadge({ type }: { readonly type: DiffFile["change_type"] }) {
  const [words, look] = CHANGES[type];
  return <span class={`badge ${look}`}>{words}</span>;
}

/** The numbers of added and deleted lines. */
export function LineCounts({ added, deleted }: Pick<DiffFile, "added" | "deleted">) {
  return (
    <span class="line-counts">
      <span class="added">+{added}</span> <span class="deleted">−{deleted}</span>
    </span>
  );
}

function FileHead({ file, isGenerated }: {
  readonly file: DiffFile;
  readonly isGenerated: boolean;
}) {
  return (
    <span class="diff-head">
      <span class="diff-name">
        {file.prev_name === null ? file.name : `${file.prev_name} → ${file.name}`}
      </span>
      <ChangeBadge type={file.change_type} />
      <LineCounts {...file} />
      {isGenerated && <span class="badge">generated</span>}
    </span>
  );
}

async function fileBody(
  { file, length, isLong, marks, slices, ...props }: DiffProps & {
    readonly file: DiffFile;
    readonly length: number;
    readonly isLong: boolean;
    /** One for all files. */
    readonly marks: WordMarks;
    readonly slices: Slices;
  },
): Promise<Child> {
  const note = noteOf(file, length);
  if (note !== null) return <p class="diff-note soft">{note}</p>;
  if (file.is_truncated && props.part !== undefined) {
    return <p class="diff-note">This difference is too long for a page. A clone has it.</p>;
  }
  if (isLong || file.is_truncated) {
    return (
      <p class="diff-note">
        {length > 0 ? `${length} lines. ` : "This difference is long. "}
        <a href={props.aloneAt(file)}>
          Show it<span class="hidden-text">: {file.name}</span>
        </a>
      </p>
    );
  }
  const lfs = lfsNoteOf(file);
  const shown = props.part === undefined
    ? hunksOf(file.diff)
    : hunksOf(file.diff, (props.part - 1) * LINES_OF_PART, LINES_OF_PART);
  const isWhole = props.part === undefined || length <= LINES_OF_PART;
  const linesAt = isWhole && file.uuid !== null ? props.linesAt?.(file) : undefined;
  const rowsOf = props.layout === "split" ? splitRows : unifiedRows;
  const hunks: Child[] = [];
  for (const hunk of shown) {
    hunks.push(await rowsOf({ hunk: marks.mark(hunk), file: file.name, slots: props, slices }));
  }
  const table = (
    <table
      class={`diff-lines ${props.layout}`}
      data-lines-at={linesAt}
      data-total-lines={linesAt === undefined ? undefined : file.total_lines ?? undefined}
    >
      <colgroup>
        <col class="num-column" />
        <col class={props.layout === "split" ? "" : "num-column"} />
        <col class={props.layout === "split" ? "num-column" : ""} />
        {props.layout === "split" && <col />}
      </colgroup>
      {hunks}
    </table>
  );
  return lfs === null ? table : [<p class="diff-note soft">{lfs}</p>, table];
}

/** What a change of a pointer of Git LFS means; null if the file is none. */
function lfsNoteOf({ lfs, prev_lfs }: DiffFile): string | null {
  if (lfs === null && prev_lfs === null) return null;
  if (prev_lfs === null) {
    return `The file is in Git LFS: its content has ${sizeOf(lfs?.size ?? 0)}.`;
  }
  const before = `The file was in Git LFS: its content had ${sizeOf(prev_lfs.size)}`;
  return lfs === null ? `${before}.` : `${before}, and has ${sizeOf(lfs.size)} now.`;
}

/** Why a file has no lines to show; null if it has. */
function noteOf(file: DiffFile, length: number): string | null {
  if (file.unreadable !== null) return `${file.unreadable}.`;
  if (file.is_binary) return "Binary files have no lines to compare.";
  if (file.is_truncated || length > 0) return null;
  if (file.change_type === "renamed") return "Renamed without a change.";
  if (file.uuid === file.prev_uuid) return "Only the mode of the file changed.";
  if (file.uuid !== null && file.prev_uuid !== null) return "Only white space changed.";
  return "The file is empty.";
}

interface RowsProps {
  readonly hunk: DiffHunk;
  readonly file: string;
  readonly slots: DiffSlots;
  readonly slices: Slices;
}

async function unifiedRows({ hunk, file, slots, slices }: RowsProps): Promise<Child> {
  const rows = await slices.render(hunk.lines, (line) => (
    <>
      <tr class={line.kind}>
        <Number {...{ file, line, slots }} side="old" />
        <Number {...{ file, line, slots }} side="new" />
        <Code line={line} />
      </tr>
      <Below {...{ file, slots }} pair={ownPair(line)} columns={3} />
    </>
  ));
  return <Hunk head={hunk.head} columns={3}>{rows}</Hunk>;
}

async function splitRows({ hunk, file, slots, slices }: RowsProps): Promise<Child> {
  const rows = await slices.render(pairsOf(hunk.lines), (pair) => (
    <>
      <tr>
        <Half {...{ file, slots }} line={pair.old} side="old" />
        <Half {...{ file, slots }} line={pair.new} side="new" />
      </tr>
      <Below {...{ file, slots, pair }} columns={4} />
    </>
  ));
  return <Hunk head={hunk.head} columns={4}>{rows}</Hunk>;
}

function Hunk({ head, columns, children }: {
  readonly head: string;
  readonly columns: number;
  readonly children?: Child;
}) {
  return (
    <tbody>
      <tr class="hunk">
        <td colspan={columns}>{head}</td>
      </tr>
      {children}
    </tbody>
  );
}

/** A line of the unified layout as a pair: the old side only where the new one lacks it. */
function ownPair(line: DiffLine): DiffPair {
  return line.kind === "deleted" ? { old: line, new: null } : { old: null, new: line };
}

function Half({ file, line, side, slots }: {
  readonly file: string;
  readonly line: DiffLine | null;
  readonly side: DiffSide;
  readonly slots: DiffSlots;
}) {
  if (line === null) return <td class="void" colspan={2}></td>;
  return (
    <>
      <Number {...{ file, line, side, slots }} look={line.kind} />
      <Code line={line} look={line.kind} />
    </>
  );
}

function Number({ file, line, side, slots, look = "" }: {
  readonly file: string;
  readonly line: DiffLine;
  readonly side: DiffSide;
  readonly slots: DiffSlots;
  readonly look?: string;
}) {
  const number = line[side];
  if (number === null) return <td class={`num ${look}`}></td>;
  // What is said about an unchanged line stands under its new number.
  const to = line.kind === "same" && line.new !== null
    ? slots.to?.(file, "new", line.new)
    : slots.to?.(file, side, number);
  if (to === undefined) return <td class={`num ${look}`} data-n={number}></td>;
  return (
    <td class={`num ${look}`}>
      <a href={to} aria-label={`Line ${number}, ${side}`} data-n={number}></a>
    </td>
  );
}

function Code({ line, look = "" }: { readonly line: DiffLine; readonly look?: string }) {
  return (
    <td class={`code ${look}`}>
      {line.words.map((word) => markedWord(word, line.kind))}
      {line.isUnended && <span class="unended" title="No line end at the end of the file">⏎</span>}
    </td>
  );
}

function markedWord({ text, isChanged }: DiffWord, kind: DiffLine["kind"]): Child {
  if (!isChanged) return text;
  return kind === "added" ? <ins>{text}</ins> : <del>{text}</del>;
}

function Below({ file, pair, slots, columns }: {
  readonly file: string;
  readonly pair: DiffPair;
  readonly slots: DiffSlots;
  readonly columns: number;
}) {
  const { below } = slots;
  if (below === undefined) return null;
  const children = (["old", "new"] as const).flatMap((side) => {
    const number = side === "old" && pair.old?.kind === "same" ? null : pair[side]?.[side] ?? null;
    const child = number === null ? null : below(file, side, number);
    return child === null ? [] : [child];
  });
  if (children.length === 0) return null;
  return (
    <tr class="below">
      <td colspan={columns}>{children}</td>
    </tr>
  );
}
