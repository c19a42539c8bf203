import type { z } from "zod";
import { getFileHistory, getFileLines } from "../../../services/work/code/operations.ts";
import type { fileLinesSchema, historySchema } from "../../../services/work/code/schemas.ts";
import { definePage, type View } from "../../page.ts";
import { CodeLines, GoToLine, highlightFile, LinePager, sizeOf } from "../../parts/code.tsx";
import {
  CheckinLink,
  firstLine,
  markupOf,
  PathLinks,
  readNames,
  RenderedFile,
  renderFile,
  shortName,
  Switcher,
} from "../../parts/files.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { placeOf } from "./tree.tsx";

/** A file at a check-in. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/lines", placeOf(visit)),
});

/** Lines of a page of a file, and of a text that is rendered. */
const [LINES_OF_PAGE, LINES_OF_TEXT] = [1000, 5000];

type FileLines = z.output<typeof fileLinesSchema>;
type Change = z.output<typeof historySchema>["checkins"][number];

const PICTURES = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i;

async function show(visit: Visit): Promise<View | Response> {
  const project = new CodeProject(visit);
  const { checkin, path } = placeOf(visit);
  const line = numberIn(visit, "line");
  if (line > 0) return visit.context.redirect(lineAt(project, { checkin, path, line }), 303);
  const isRendered = markupOf(path) !== null && visit.query("view") !== "source";
  const first = isRendered ? 1 : Math.max(1, numberIn(visit, "first"));
  const count = isRendered ? LINES_OF_TEXT : LINES_OF_PAGE;
  const [file, names, { checkins: [change] }] = await Promise.all([
    project.invoke(getFileLines, { checkin, path, first, count }),
    readNames(project, checkin),
    project.invoke(getFileHistory, { checkin, path, per_page: 1 }),
  ]);
  const body = (
    <>
      <h1 class="hidden-text">{path}</h1>
      <div class="file-bar">
        <Switcher
          {...{ project, checkin, names }}
          link={(name) => project.to.file(name, path)}
        />
        <PathLinks {...{ project, checkin, path }} />
      </div>
      <LastChange project={project} change={change} />
      <section class="file-box" aria-label={path}>
        <FileActions {...{ project, checkin, file, isRendered }} />
        {await content({ project, checkin, file, isRendered })}
      </section>
      {!isRendered && <LinePager {...{ visit, file, count: LINES_OF_PAGE }} />}
    </>
  );
  return {
    title: `${path} at ${shortName(checkin)} · ${project.view.name}`,
    body,
    project: project.place("code"),
    head: <PublicHead project={project} title={`${path} · ${project.view.name}`} />,
  };
}

/** A whole number of the query; 0 if there is none. */
export function numberIn(visit: Visit, name: string): number {
  const text = visit.query(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** The page of a file that shows a line. */
function lineAt(
  { to }: CodeProject,
  { checkin, path, line }: {
    readonly checkin: string;
    readonly path: string;
    readonly line: number;
  },
): string {
  const start = Math.floor((line - 1) / LINES_OF_PAGE) * LINES_OF_PAGE + 1;
  const first = start === 1 ? undefined : start;
  const view = markupOf(path) === null ? undefined : "source";
  return `${withQuery(to.file(checkin, path), { view, first })}#L${line}`;
}

/** The check-in that last changed the file. */
function LastChange({ project, change }: {
  readonly project: CodeProject;
  readonly change: Change | undefined;
}) {
  if (change === undefined) return null;
  return (
    <p class="newest">
      <CheckinLink to={project.to} uuid={change.uuid} />{" "}
      <span class="newest-comment">{firstLine(change.comment).slice(0, 200)}</span>{" "}
      <span class="soft small">
        {change.user}, <Time at={change.timestamp} />
      </span>
    </p>
  );
}

interface Shown {
  readonly project: CodeProject;
  readonly checkin: string;
  readonly file: FileLines;
  readonly isRendered: boolean;
}

function linesIn(count: number): string {
  return count === 1 ? "1 line" : `${count.toLocaleString("en")} lines`;
}

function FileActions({ project, checkin, file, isRendered }: Shown) {
  const { to } = project;
  const { path } = file;
  return (
    <div class="file-actions">
      <span class="soft small">
        {!file.is_binary && `${linesIn(file.total_lines)}, `}
        {sizeOf(file.size)}
        {file.executable && ", executable"}
        {file.type === "link" && ", symbolic link"}
      </span>
      {!file.is_binary && !isRendered && <GoToLine />}
      {markupOf(path) !== null && (
        isRendered
          ? <a href={withQuery(to.file(checkin, path), { view: "source" })}>Source</a>
          : <a href={to.file(checkin, path)}>Rendered</a>
      )}
      {!file.is_binary && <a href={to.blame(checkin, path)}>Blame</a>}
      <a href={to.history(path, checkin)}>History</a>
      <a href={to.raw(checkin, path)}>Raw</a>
      <a href={to.raw(checkin, path)} download={path.split("/").at(-1)}>Download</a>
      <a href={to.file(file.checkin, path)} data-permalink>Permalink</a>
      <button type="button" class="quiet-button" data-copy={path}>Copy path</button>
      {project.open.mayWrite && !file.is_binary && file.type === "file" && (
        <a href={to.edit(checkin, path)}>Edit</a>
      )}
    </div>
  );
}

/** What stands in place of the lines of a pointer. */
async function LfsNote({ project, path, pointer: { oid, size } }: {
  readonly project: CodeProject;
  readonly path: string;
  readonly pointer: NonNullable<FileLines["lfs"]>;
}) {
  const { lfs } = project.visit.services.hosting;
  const isHere = (await lfs.find(project.access.project, [oid])).has(oid);
  return (
    <p class="file-note">
      This file is in Git LFS: its content has {sizeOf(size)}. {isHere
        ? <a href={project.to.lfs(oid, path)} download>Download it</a>
        : "It is not on this server: nobody has pushed it."}
    </p>
  );
}

async function content({ project, checkin, file, isRendered }: Shown) {
  const { path } = file;
  const { to } = project;
  if (
    PICTURES.test(path) && file.lfs === null &&
    (file.is_binary || path.toLowerCase().endsWith(".svg"))
  ) {
    return (
      <p class="picture-box">
        <img src={to.raw(file.checkin, path)} alt={path} />
      </p>
    );
  }
  if (file.lfs !== null) return <LfsNote {...{ project, path }} pointer={file.lfs} />;
  if (file.is_binary) {
    return (
      <p class="file-note">
        This file is binary. <a href={to.raw(file.checkin, path)} download>Download it</a>
      </p>
    );
  }
  if (file.total_lines === 0) return <p class="file-note soft">The file is empty.</p>;
  if (isRendered) {
    const rendered = await renderFile(project, file);
    return <RenderedFile {...{ project, checkin, path, rendered }} />;
  }
  return <CodeLines file={file} highlighted={await highlightFile(project, file)} />;
}
