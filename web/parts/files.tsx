/** What pages about files share: the way to a file, branches to switch to, listings. */
import { ChevronDown, File, FileSymlink, Folder, GitBranch } from "lucide-static";
import type { z } from "zod";
import { shownText } from "../../services/engines/fossil/front/mod.ts";
import { getCheckin, listBranches, listTags } from "../../services/work/code/operations.ts";
import type { branchesSchema, tagsSchema, treeSchema } from "../../services/work/code/schemas.ts";
import type { ProjectAddresses } from "../addresses.ts";
import type { CodeProject } from "../code_project.ts";
import { Icon } from "./icon.tsx";
import { Pager } from "./lists.tsx";
import { Prose, type TextPart, textPart } from "./prose.tsx";
import { Time } from "./time.tsx";

export type Tree = z.output<typeof treeSchema>;
export type TreeEntry = Tree["entries"][number];
export type Branches = z.output<typeof branchesSchema>["branches"];
export type Tags = z.output<typeof tagsSchema>["tags"];

/** Hexadecimal digits by which a check-in is shown. */
const SHORT = 10;

/** A hash as people see it; other names of check-ins stay whole. */
export function shortName(checkin: string): string {
  return /^[0-9a-f]{40,64}$/.test(checkin) ? checkin.slice(0, SHORT) : checkin;
}

/** A link to a check-in by its short hash. */
export function CheckinLink({ to, uuid }: {
  readonly to: ProjectAddresses;
  readonly uuid: string;
}) {
  return <a class="mono" href={to.checkin(uuid)}>{uuid.slice(0, SHORT)}</a>;
}

/** The first line of a message. */
export function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line === "" ? "(no message)" : line;
}

/** The way from the root to a file or a folder. The last part is where the page is. */
export function PathLinks({ project, checkin, path }: {
  readonly project: CodeProject;
  readonly checkin: string;
  readonly path: string;
}) {
  const parts = path === "" ? [] : path.split("/");
  const { to, slug } = project;
  return (
    <nav class="path" aria-label="Path">
      <a href={to.tree(checkin)}>{slug}</a>
      {parts.map((part, index) => (
        <>
          <span aria-hidden="true">/</span>
          {index === parts.length - 1
            ? <span aria-current="page">{part}</span>
            : <a href={to.tree(checkin, parts.slice(0, index + 1).join("/"))}>{part}</a>}
        </>
      ))}
    </nav>
  );
}

/** Names in the switcher; the page of all branches has the rest. */
const SWITCHED = 20;

/** What a name of a check-in stands for. */
export interface NamedCheckin {
  readonly uuid: string;
  readonly branch: string;
}

/** Branches and tags that pages offer; the same for all, so that they share the answer. */
const OFFERED = 100;

/** The branches and tags to switch to, and what the page shows if it names none of them. */
export interface Names {
  readonly branches: Branches;
  readonly tags: Tags;
  readonly branchCount: number;
  readonly tagCount: number;
  readonly named: NamedCheckin | null;
}

/** Reads the branches and tags that pages offer, the newest first, and how many there are. */
export async function readBranchesAndTags(project: CodeProject): Promise<Omit<Names, "named">> {
  const [{ branches, total: branchCount }, { tags, total: tagCount }] = await Promise.all([
    project.invoke(listBranches, { newest: OFFERED }),
    project.invoke(listTags, { newest: OFFERED }),
  ]);
  return { branches, branchCount, tags, tagCount };
}

/** Reads the names for the switcher of a page that shows a check-in. */
export async function readNames(project: CodeProject, checkin: string): Promise<Names> {
  const offered = await readBranchesAndTags(project);
  const isListed = [...offered.branches, ...offered.tags].some(({ name }) => name === checkin);
  const named = isListed ? null : await project.invoke(getCheckin, { uuid: checkin });
  return { ...offered, named };
}

/** Whether the name of a branch or tag fits an address: one that was imported may have any length. */
export function hasAddress({ name }: { readonly name: string }): boolean {
  return shownText(name, "name") === name;
}

/** The branch or check-in of a page, and links to the same page at others. */
export function Switcher({ project, checkin, names, link }: {
  readonly project: CodeProject;
  readonly checkin: string;
  readonly names: Omit<Names, "tagCount">;
  readonly link: (checkin: string) => string;
}) {
  const { branches, branchCount, tags, named } = names;
  const open = branches.filter((branch) => branch.status === "open" && hasAddress(branch));
  const entry = ({ name }: { readonly name: string }) => (
    <li>
      <a href={link(name)} aria-current={name === checkin ? "true" : undefined}>
        {shownText(name, "name")}
      </a>
    </li>
  );
  return (
    <details class="switcher">
      <summary class="button">
        <Icon svg={GitBranch} />
        <span class="hidden-text">Branch:</span>
        <span class="switcher-name">
          {named === null ? shortName(checkin) : `${named.branch} at ${shortName(named.uuid)}`}
        </span>
        <Icon svg={ChevronDown} />
      </summary>
      <div class="switcher-lists">
        <h2>Branches</h2>
        <ul>{open.slice(0, SWITCHED).map(entry)}</ul>
        {tags.length > 0 && (
          <>
            <h2>Tags</h2>
            <ul>{tags.filter(hasAddress).slice(0, SWITCHED).map(entry)}</ul>
          </>
        )}
        <p>
          <a href={project.to.at("/branches")}>
            {branchCount === 1 ? "All branches" : `All ${branchCount} branches`}
          </a>
        </p>
      </div>
    </details>
  );
}

/** The entries of a folder: folders first, each with its last change. */
export function Listing({ project, checkin, tree, entries }: {
  readonly project: CodeProject;
  readonly checkin: string;
  readonly tree: Tree;
  readonly entries: readonly TreeEntry[];
}) {
  const { to } = project;
  const below = (name: string) => tree.path === "" ? name : `${tree.path}/${name}`;
  const parent = tree.path.split("/").slice(0, -1).join("/");
  return (
    <table class="listing">
      <thead class="hidden-text">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Last check-in</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody data-keys="list">
        {tree.path !== "" && (
          <tr>
            <td class="name" colspan={3}>
              <a href={to.tree(checkin, parent)} aria-label="The folder above">..</a>
            </td>
          </tr>
        )}
        {entries.map((entry) => (
          <tr>
            <td class="name">
              <Icon svg={ICONS[entry.type]} />{" "}
              <a
                href={entry.type === "dir"
                  ? to.tree(checkin, below(entry.name))
                  : to.file(checkin, below(entry.name))}
              >
                {entry.name}
              </a>
            </td>
            <td class="comment">
              {entry.last_checkin !== null && (
                <a href={to.checkin(entry.last_checkin.uuid)}>
                  {firstLine(entry.last_checkin.comment).slice(0, 200)}
                </a>
              )}
            </td>
            <td class="when">
              {entry.last_checkin !== null && <Time at={entry.last_checkin.timestamp} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ICONS: Readonly<Record<TreeEntry["type"], string>> = {
  dir: Folder,
  file: File,
  link: FileSymlink,
};

/** Folders first, then files, each in the order of the repository. */
export function inOrder(entries: readonly TreeEntry[]): TreeEntry[] {
  return [
    ...entries.filter(({ type }) => type === "dir"),
    ...entries.filter(({ type }) => type !== "dir"),
  ];
}

/** Markups by the endings of files. */
const MARKUPS: ReadonlyMap<string, string> = new Map([
  ["md", "text/x-markdown"],
  ["markdown", "text/x-markdown"],
  ["mkd", "text/x-markdown"],
  ["wiki", "text/x-fossil-wiki"],
]);

/** The markup of a file that can be shown as a text; null for other files. */
export function markupOf(path: string): string | null {
  const dot = path.lastIndexOf(".");
  return MARKUPS.get(path.slice(dot + 1).toLowerCase()) ?? null;
}

/** The file of a folder that introduces it; undefined if there is none. */
export function readmeOf({ entries }: Tree): TreeEntry | undefined {
  const names = entries.filter(({ name, type }) =>
    type === "file" && /^readme(?:\.(?:md|markdown|mkd|wiki|txt))?$/i.test(name)
  );
  return names.find(({ name }) => markupOf(name) !== null) ?? names[0];
}

/** The lines of a file as the API returns them. */
export interface FileText {
  readonly path: string;
  readonly lines: readonly string[];
}

/** A part of a file as HTML, and of how many parts it is. */
export interface Rendered extends Omit<TextPart, "text"> {
  readonly html: string;
}

/** The parameter of the query that says which part of a long file is shown. */
const PART = "part";

/** A file as rendered text, with links to the files beside it. */
export async function renderFile(
  project: CodeProject,
  { path, lines }: FileText,
): Promise<Rendered> {
  const { visit: { services }, access } = project;
  const { text, part, parts } = textPart(lines.join("\n"), project.visit.pageNumberOf(PART));
  const mimetype = markupOf(path) ?? "text/plain";
  return {
    html: await services.hosting.texts.html(access.project, { text, mimetype }),
    part,
    parts,
  };
}

/** A rendered file. */
export function RenderedFile({ project, checkin, path, rendered: { html, part, parts } }: {
  readonly project: CodeProject;
  readonly checkin: string;
  readonly path: string;
  readonly rendered: Rendered;
}) {
  const { to } = project;
  const resolve = (target: string, isPicture: boolean) => {
    const url = URL.parse(
      target,
      `http://here/${path.split("/").map(encodeURIComponent).join("/")}`,
    );
    if (url === null || url.host !== "here") return undefined;
    const there = decoded(url.pathname.slice(1));
    if (there === null) return undefined;
    return isPicture ? to.raw(checkin, there) : to.file(checkin, there) + url.hash;
  };
  return (
    <>
      <Prose html={html} resolve={resolve} />
      <Pager
        visit={project.visit}
        page={part}
        pages={parts}
        parameter={PART}
        label="Parts of the text"
      />
    </>
  );
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
