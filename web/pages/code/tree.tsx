import { getFileLines, getTree } from "../../../services/work/code/operations.ts";
import { definePage, type View } from "../../page.ts";
import {
  CheckinLink,
  inOrder,
  Listing,
  PathLinks,
  readmeOf,
  readNames,
  RenderedFile,
  renderFile,
  shortName,
  Switcher,
  type Tree,
} from "../../parts/files.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";

/** A folder at a check-in. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/tree", placeOf(visit)),
});

const PER_PAGE = 300;

/** The check-in and the path of the address. */
export function placeOf(visit: Visit): { checkin: string; path: string } {
  return { checkin: visit.param("checkin"), path: visit.param("path").replace(/(?<!\/)\/+$/, "") };
}

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const { checkin, path } = placeOf(visit);
  const [tree, names] = await Promise.all([
    project.invoke(getTree, { checkin, path }),
    readNames(project, checkin),
  ]);
  const entries = inOrder(tree.entries);
  const pages = Math.max(1, Math.ceil(entries.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const readme = readmeOf(tree);
  const { to } = project;
  const body = (
    <>
      <h1 class="hidden-text">{path === "" ? "Files" : path}</h1>
      <div class="file-bar">
        <Switcher {...{ project, checkin, names }} link={(name) => to.tree(name, path)} />
        <PathLinks {...{ project, checkin, path }} />
        <span class="file-actions">
          <CheckinLink to={to} uuid={tree.checkin} />
          <a href={to.at("/timeline", { path: path || undefined, branch: undefined })}>History</a>
          {project.open.mayWrite && <a href={to.newFile(checkin, path)}>New file</a>}
          <a href={to.archive(checkin, "zip")}>.zip</a>
          <a href={to.archive(checkin, "tar.gz")}>.tar.gz</a>
        </span>
      </div>
      {entries.length === 0 ? <Empty>This check-in has no files.</Empty> : (
        <Listing
          {...{ project, checkin, tree }}
          entries={entries.slice((page - 1) * PER_PAGE, page * PER_PAGE)}
        />
      )}
      <Pager visit={visit} page={page} pages={pages} />
      {readme !== undefined && await readmeBelow(project, tree, checkin)}
    </>
  );
  return {
    title: `${path || "Files"} at ${shortName(checkin)} · ${project.view.name}`,
    body,
    project: project.place("code"),
    head: <PublicHead project={project} />,
  };
}

/** The file that introduces the folder. */
export async function readmeBelow(project: CodeProject, tree: Tree, checkin: string) {
  const name = readmeOf(tree)?.name ?? "";
  const path = tree.path === "" ? name : `${tree.path}/${name}`;
  const file = await project.invoke(getFileLines, { checkin: tree.checkin, path });
  if (file.is_binary) return null;
  const rendered = await renderFile(project, file);
  return (
    <section class="card readme" aria-label={name}>
      <p class="readme-name soft small">
        <a href={project.to.file(checkin, path)}>{name}</a>
      </p>
      <RenderedFile {...{ project, checkin, path, rendered }} />
    </section>
  );
}
