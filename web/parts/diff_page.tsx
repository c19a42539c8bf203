/** The part of a page that shows what two check-ins differ in, page by page. */
import type { z } from "zod";
import { getDiff } from "../../services/work/code/operations.ts";
import type { diffSchema } from "../../services/work/code/schemas.ts";
import type { CodeProject } from "../code_project.ts";
import { type Query, type Visit, withQuery } from "../visit.ts";
import {
  anchorOf,
  ChangeBadge,
  Diff,
  type DiffFile,
  type DiffLayout,
  LineCounts,
  partsOf,
} from "./diff.tsx";
import { linkWith, Segments } from "./filters.tsx";
import { Empty, Pager } from "./lists.tsx";

export type DiffAnswer = z.output<typeof diffSchema>;

/** Files of a page, bytes of their diffs, and bytes of the diff of a file with pages of its own. */
const [FILES_OF_PAGE, BYTES_OF_PAGE, BYTES_OF_FILE] = [25, 250_000, 2_000_000];

/** The layout that the visitor chose. */
export function layoutOf(visit: Visit): DiffLayout {
  return visit.query("layout") === "split" ? "split" : "unified";
}

/** Reads the page of a diff that the address names, or with `path` one file. */
export async function readDiff(project: CodeProject, query: Query): Promise<DiffAnswer> {
  const { visit } = project;
  const path = visit.query("path");
  const range = path === undefined
    ? { page: visit.pageNumber, per_page: FILES_OF_PAGE, max_bytes: BYTES_OF_PAGE }
    : { path, page: visit.pageNumber, per_page: FILES_OF_PAGE, max_bytes: BYTES_OF_FILE };
  const options = {
    ...(visit.query("context") === "all" ? { context: 1000 } : {}),
    ...(visit.query("whitespace") === "ignore" ? { whitespace: "ignore" } : {}),
  };
  return await project.invoke(getDiff, { ...query, ...range, ...options });
}

/** A diff as text, for `patch` and `git apply`. */
export async function patchOf(project: CodeProject, query: Query): Promise<Response> {
  const { files } = await project.invoke(getDiff, query);
  const text = files.map(({ diff }) => diff).join("");
  return project.visit.context.text(text, 200, { "Cache-Control": "private, no-cache" });
}

/** The files of a diff with their lines, a list of them, and the ways to look at them. */
export function DiffPart({ project, diff, layout, before, after }: {
  readonly project: CodeProject;
  readonly diff: DiffAnswer;
  readonly layout: DiffLayout;
  /** The check-ins of the two sides; the first is "" if there is nothing before. */
  readonly before: string;
  readonly after: string;
}) {
  const { visit, to } = project;
  const { files, total } = diff;
  const path = visit.query("path");
  const own = Object.fromEntries(visit.url.searchParams);
  const at = (changes: Query) => withQuery(visit.url.pathname, { ...own, ...changes });
  const isAlone = path !== undefined && files.length === 1;
  const part = Number(visit.query("part") ?? 1) || 1;
  const [alone] = files;
  const parts = isAlone && alone !== undefined ? partsOf(alone) : 1;
  const pages = Math.max(1, Math.ceil(total / FILES_OF_PAGE));
  return (
    <section aria-label="Changes">
      <div class="page-head diff-bar">
        <h2>{total === 1 ? "1 changed file" : `${total.toLocaleString("en")} changed files`}</h2>
        <div class="file-actions">
          {path !== undefined && <a href={at({ path: undefined, part: undefined })}>All files</a>}
          {visit.query("context") === "all"
            ? <a href={at({ context: undefined })}>Less context</a>
            : <a href={at({ context: "all" })}>More context</a>}
          <WhitespaceSwitch visit={visit} />
          <LayoutSwitch visit={visit} layout={layout} />
        </div>
      </div>
      {files.length > 1 && <FileList files={files} />}
      {files.length === 0 ? <Empty>Nothing differs.</Empty> : (
        <Diff
          {...{ files, layout }}
          aloneAt={(file) =>
            at({ path: file.name.toWellFormed(), page: undefined, part: undefined })}
          links={(file) => fileLinks(project, file, { before, after })}
          linesAt={(file) => to.lines(after, file.name)}
          {...(isAlone ? { part: Math.min(Math.max(1, part), parts) } : {})}
        />
      )}
      {isAlone && parts > 1 && <Parts {...{ part, parts, at }} />}
      <Pager visit={visit} page={Math.min(visit.pageNumber, pages)} pages={pages} />
      {files.length > 0 && (
        <p class="hidden-text">
          <a href={to.home}>Back to the project</a>
        </p>
      )}
    </section>
  );
}

/** The way to hide changes of white space, or to show them again. */
export function WhitespaceSwitch({ visit }: { readonly visit: Visit }) {
  return visit.query("whitespace") === "ignore"
    ? <a href={linkWith(visit, { whitespace: undefined })}>Show white space</a>
    : <a href={linkWith(visit, { whitespace: "ignore" })}>Ignore white space</a>;
}

/** The two ways in which lines stand. */
export function LayoutSwitch({ visit, layout }: {
  readonly visit: Visit;
  readonly layout: DiffLayout;
}) {
  const page = visit.query("page");
  const to = (name: string | undefined) => linkWith(visit, { layout: name, at: undefined, page });
  return (
    <Segments
      label="Layout"
      links={[
        { to: to(undefined), words: "Unified", isCurrent: layout === "unified" },
        { to: to("split"), words: "Side by side", isCurrent: layout === "split" },
      ]}
    />
  );
}

/** Up to how many files their list is unfolded. */
const UNFOLDED = 8;

function FileList({ files }: { readonly files: readonly DiffFile[] }) {
  return (
    <details class="more" open={files.length <= UNFOLDED}>
      <summary>Jump to a file</summary>
      <ul class="diff-list">
        {files.map((file) => (
          <li>
            <a href={`#${anchorOf(file.name)}`}>{file.name}</a>{" "}
            <ChangeBadge type={file.change_type} /> <LineCounts {...file} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function fileLinks(
  { to }: CodeProject,
  file: DiffFile,
  { before, after }: { readonly before: string; readonly after: string },
) {
  const name = <span class="hidden-text">: {file.name}</span>;
  const older = file.prev_name ?? file.name;
  return (
    <>
      {file.uuid !== null && <a href={to.file(after, file.name)}>File{name}</a>}{" "}
      {file.prev_uuid !== null && before !== "" && <a href={to.file(before, older)}>Before{name}
      </a>}{" "}
      <a
        href={to.history(
          file.uuid === null ? older : file.name,
          file.uuid === null ? before : after,
        )}
      >
        History{name}
      </a>
    </>
  );
}

function Parts({ part, parts, at }: {
  readonly part: number;
  readonly parts: number;
  readonly at: (changes: Query) => string;
}) {
  return (
    <nav class="pager" aria-label="Parts of the difference">
      {part > 1 ? <a href={at({ part: part - 1 })} rel="prev">Lines before</a> : <span />}
      <span class="soft">Part {part} of {parts}</span>
      {part < parts ? <a href={at({ part: part + 1 })} rel="next">Lines after</a> : <span />}
    </nav>
  );
}
