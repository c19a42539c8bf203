/** Archives for download: the executable with what belongs beside it. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type ArchiveFile, zipArchive } from "../../services/engines/fossil/read/archive/zip.ts";
import { gzip, tarArchive } from "../../services/engines/fossil/read/archive/tar.ts";
import { ROOT } from "../bundle.ts";
import { executableName, type Target } from "../targets.ts";

/** The files of the tree that every archive has. */
const PLAIN = ["CHANGELOG.md", "LICENSE", "README.md", "config.example.yaml", "licenses.txt"];

/** Folders of the tree that every archive has. */
const FOLDERS = ["deploy", "docs"];

/** What the program prints about itself, and where it goes. */
const DOCUMENTS: readonly (readonly [path: string, words: readonly string[]])[] = [
  ["man/muster.1", ["man"]],
  ["completion/muster.bash", ["completion", "bash"]],
  ["completion/_muster", ["completion", "zsh"]],
  ["completion/muster.fish", ["completion", "fish"]],
];

/** The list of checksums, in the form that `sha256sum --check` reads. */
export const CHECKSUMS = "SHA256SUMS";

/** The name of a target's archive. Windows opens zip files without a program of its own. */
export function archiveName(version: string, { name, os }: Target): string {
  return `muster-${version}-${name}.${os === "windows" ? "zip" : "tar.gz"}`;
}

/**
 * The files of an archive, by path: the executable, the tree's and what the program prints about
 * itself, with the checksum of each.
 *
 * @param print runs a command of muster and gives its output.
 */
export function releaseFiles(
  executable: string,
  target: Target,
  print: (words: readonly string[]) => Uint8Array,
): ArchiveFile[] {
  const files = [
    file(executableName(target.os), Deno.readFileSync(executable), "executable"),
    ...PLAIN.map((path) => fromTree(path)),
    ...FOLDERS.flatMap((folder) => folderFiles(folder)),
    ...DOCUMENTS.map(([path, words]) => file(path, print(words))),
  ];
  const sums = new TextEncoder().encode(checksums(files));
  return [...files, file(CHECKSUMS, sums)].sort(byPath);
}

/**
 * Packs files. The same files give the same bytes: sorted, with one time and one owner, root.
 *
 * @param date Unix milliseconds.
 */
export async function packRelease(
  path: string,
  files: readonly ArchiveFile[],
  date: number,
): Promise<void> {
  const [name = ""] = /[^/]+(?=\.(?:zip|tar\.gz)$)/.exec(path) ?? [];
  const inFolder = files.map((each) => ({ ...each, path: `${name}/${each.path}` }));
  const chunks = path.endsWith(".zip")
    ? zipArchive(inFolder, date)
    : gzip(tarArchive(inFolder, date));
  await Deno.writeFile(path, ReadableStream.from(chunks));
}

/** A line for each file: its SHA-256, and its path. */
export function checksums(files: readonly Pick<ArchiveFile, "path" | "content">[]): string {
  return files.toSorted(byPath)
    .map(({ path, content }) => `${createHash("sha256").update(content).digest("hex")}  ${path}\n`)
    .join("");
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}

function file(
  path: string,
  content: Uint8Array,
  mode: ArchiveFile["mode"] = "file",
): ArchiveFile {
  return { path, content, mode };
}

/** A file of the tree; scripts are executable. */
function fromTree(path: string): ArchiveFile {
  return file(
    path,
    Deno.readFileSync(join(ROOT, path)),
    path.endsWith(".sh") ? "executable" : "file",
  );
}

function folderFiles(folder: string): ArchiveFile[] {
  return [...Deno.readDirSync(join(ROOT, folder))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? folderFiles(path) : [fromTree(path)];
  });
}
