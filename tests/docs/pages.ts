/** The pages of the documentation, taken apart for the tests that check them. */
import MarkdownIt from "markdown-it";
import { dirname, join, relative } from "node:path";

export const ROOT = join(import.meta.dirname ?? ".", "..", "..");

/** A code block. */
export interface Block {
  /** The word after the fence, such as `sh`; empty for none. */
  readonly language: string;
  readonly text: string;
  /** The heading above it. */
  readonly heading: string;
}

/** A page of the documentation. */
export interface Page {
  /** Its path from the root of the repository, such as `docs/irc.md`. */
  readonly path: string;
  /** The targets of its links and pictures, as written. */
  readonly links: readonly string[];
  /** The fragments that a link can name. */
  readonly anchors: ReadonlySet<string>;
  /** Code spans, grouped by the paragraph or table cell that holds them. */
  readonly spans: readonly (readonly string[])[];
  readonly blocks: readonly Block[];
}

/** Pages outside of `docs/` and `services/`. */
const OTHERS: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "bench/README.md",
  "deploy/cluster/README.md",
  "tests/flaky.md",
  "web/README.md",
];

/** Reads every page for users and contributors, in the order of their paths. */
export async function readPages(): Promise<Page[]> {
  const paths = [...OTHERS, ...await pagesBelow("docs"), ...await pagesBelow("services")];
  return await Promise.all(paths.toSorted().map(readPage));
}

/** The paths of all pages in a folder and the folders in it. */
async function pagesBelow(folder: string): Promise<string[]> {
  const found = (await Array.fromAsync(Deno.readDir(join(ROOT, folder)))).map(
    ({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory ? pagesBelow(path) : path.endsWith(".md") ? [path] : [];
    },
  );
  return (await Promise.all(found)).flat();
}

/** Pages of `docs/` for people who work on muster. */
export const FOR_DEVELOPERS = /^docs\/(?:dev\/|architecture\.md$)/;

/** Reads the README and the pages of `docs/` for users. */
export async function readUserPages(): Promise<Page[]> {
  const pages = await readPages();
  return pages.filter(({ path }) =>
    path === "README.md" || (path.startsWith("docs/") && !FOR_DEVELOPERS.test(path))
  );
}

/** Reads the pages about projects. */
export async function readProjectPages(): Promise<Page[]> {
  const pages = await readUserPages();
  return pages.filter(({ path }) => /^docs\/projects[./]/.test(path));
}

/** Reads one page by its path from the root of the repository. */
export async function readPage(path: string): Promise<Page> {
  const text = await Deno.readTextFile(join(ROOT, path));
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  const links: string[] = [];
  const anchors = new Set<string>();
  const spans: string[][] = [];
  const blocks: Block[] = [];
  let heading = "";
  tokens.forEach((token, index) => {
    if (token.type === "fence") {
      blocks.push({ language: token.info.trim(), text: token.content, heading });
    }
    if (token.type !== "inline") return;
    if (tokens[index - 1]?.type === "heading_open") {
      heading = token.content;
      anchors.add(anchorOf(token.content));
    }
    const children = token.children ?? [];
    links.push(
      ...children.flatMap((child) =>
        (child.attrGet("href") ?? child.attrGet("src"))?.toString() ?? []
      ),
    );
    const codes = children.filter(({ type }) => type === "code_inline");
    if (codes.length > 0) spans.push(codes.map(({ content }) => content));
  });
  return { path, links, anchors, spans, blocks };
}

/** Whether the repository has a file or folder of this path. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(join(ROOT, path));
    return true;
  } catch {
    return false;
  }
}

/** The path from the root of the repository to which a relative link on a page leads. */
export function targetOf(page: Page, link: string): string {
  const [path = ""] = link.split("#", 1);
  if (path === "") return page.path;
  return relative(ROOT, join(ROOT, dirname(page.path), path));
}

/** The fragment that GitHub and Forgejo give a heading. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");
}
