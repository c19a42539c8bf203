/** Git repositories that tests make, as streams. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { withFolder } from "./temporary.ts";

/** A commit, which follows the one before it. */
export interface GitCommit {
  readonly author: string;
  readonly message: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** The contents of the files that it writes, by their paths. */
  readonly files: Readonly<Record<string, string>>;
}

/** The stream that `git fast-export` writes of commits on `main`. The test needs the peer `git`. */
export async function exportGit(commits: readonly GitCommit[]): Promise<Uint8Array<ArrayBuffer>> {
  let stream = new Uint8Array();
  await withFolder(async (folder) => {
    await git(folder, ["init", "--quiet", "--initial-branch=main"]);
    for (const { author, message, time, files } of commits) {
      for (const [path, content] of Object.entries(files)) {
        await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
        await Deno.writeTextFile(join(folder, path), content);
      }
      await git(folder, ["add", "--all"]);
      await git(folder, ["commit", "--quiet", `--message=${message}`], identityOf(author, time));
    }
    stream = await git(folder, ["fast-export", "--all", "--use-done-feature"]);
  });
  return stream;
}

function identityOf(author: string, time: number): Record<string, string> {
  const date = `${Math.floor(time / 1000)} +0000`;
  const email = `${author}@example.org`;
  return {
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: author,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}

async function git(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { code, stdout, stderr } = await new Deno.Command("git", {
    args: [...args],
    cwd: folder,
    // The machine's own configuration does not matter.
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", ...environment },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return stdout;
}
