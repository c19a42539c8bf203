/** Commits and pushes of the `git` program. */
import assert from "node:assert/strict";
import type { Clone } from "./git_client.ts";
import { type GitTest, withGit } from "./git_door.ts";
import { peer } from "./peers.ts";

/** A test that needs `git`. */
export function gitTest(name: string, run: (test: GitTest) => Promise<void>): void {
  Deno.test({ name, ...peer("git"), fn: () => withGit(run) });
}

/** Writes files and commits them; returns the commit. */
export async function commit(
  clone: Clone,
  files: Readonly<Record<string, string | Uint8Array>>,
  message = "A change",
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
    if (folder !== "") await Deno.mkdir(`${clone.folder}/${folder}`, { recursive: true });
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await Deno.writeFile(`${clone.folder}/${path}`, bytes);
  }
  await clone.git("add", "--all");
  await clone.git("commit", "--quiet", "--message", message);
  return (await clone.git("rev-parse", "HEAD")).trim();
}

/** Checks that a fresh clone has the same references as a repository. */
export async function requireSame(
  { client, url }: GitTest,
  clone: Clone,
  ...refs: readonly string[]
): Promise<void> {
  const mirror = await client.clone(url, "--mirror");
  assert.equal(await mirror.refs(...refs), await clone.refs(...refs));
}
