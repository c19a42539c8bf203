import { join, resolve } from "node:path";

/** The version of this program, as in CHANGELOG.md. */
export const VERSION = "0.1.0";

/** `scripts/bundle.ts` writes the hash of the bundle in its place. */
const BUNDLE = "@muster-build@";

/**
 * Which build of the version this is: the hash of the bundle, or the commit that is checked out; 12
 * hex digits. A tree that is no clone of a repository is "unknown", and changes that are not
 * committed do not show.
 */
export function buildId(): string {
  if (!BUNDLE.startsWith("@")) return BUNDLE;
  try {
    return commitIn(resolve(import.meta.dirname ?? ".", "../..")).slice(0, 12);
  } catch {
    return "unknown";
  }
}

/** @throws an error of the system if the tree is no clone */
function commitIn(tree: string): string {
  const read = (...path: string[]) => Deno.readTextFileSync(join(...path)).trim();
  const git = join(tree, ".git");
  const folder = Deno.statSync(git).isFile
    ? resolve(tree, read(git).replace(/^gitdir: /, ""))
    : git;
  const head = read(folder, "HEAD");
  if (!head.startsWith("ref: ")) return head;
  const name = head.slice("ref: ".length);
  // A work tree of its own has its branches elsewhere.
  const common = folder === git ? git : resolve(folder, read(folder, "commondir"));
  try {
    return read(common, name);
  } catch {
    const packed = read(common, "packed-refs").split("\n").find((line) =>
      line.endsWith(` ${name}`)
    );
    return packed?.split(" ")[0] ?? "unknown";
  }
}

/**
 * The program that runs. On Linux the permission to start processes is for this path alone: it
 * always names the program itself, wherever it is and also after its file was replaced.
 */
export function ownProgram(): string {
  return Deno.build.os === "linux" ? "/proc/self/exe" : Deno.execPath();
}
