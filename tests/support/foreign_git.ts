/** Clients of Git that nobody here wrote; `scripts/git_clients` installs them. */
import { join } from "node:path";
import type { GitRun } from "./git_client.ts";
import { gitClients } from "./peers.ts";

/**
 * The words that start a client. What follows them:
 * - `clone URL FOLDER [DEPTH [FILTER]]`, `fetch FOLDER [DEPTH]`: a depth of 0 is none;
 * - `commit FOLDER PATH TEXT MESSAGE`, `tag FOLDER NAME MESSAGE`;
 * - `push FOLDER SPEC …`: `[+]FROM:TO`, or `:TO` to delete.
 *
 * The credential is in `GIT_USER` and `GIT_SECRET`.
 */
export interface ForeignGit {
  readonly name: string;
  words(): readonly string[];
  /** Whether it gets more of the history of a clone that ends at a depth. */
  readonly deepens: boolean;
  /** Whether it makes clones that leave out files. */
  readonly isPartial: boolean;
}

const program = (name: string) =>
  new URL(`./git_clients/${name}`, import.meta.url).pathname;
const installed = (path: string) => join(gitClients(), path);

export const FOREIGN_GITS: readonly ForeignGit[] = [
  {
    name: "pygit2",
    words: () => [installed("bin/python"), program("pygit2_client.py")],
    deepens: true,
    isPartial: false,
  },
  {
    name: "dulwich",
    words: () => [installed("bin/python"), program("dulwich_client.py")],
    deepens: true,
    isPartial: true,
  },
  {
    name: "isomorphic-git",
    words: () => ["node", program("isomorphic_git_client.mjs")],
    deepens: true,
    isPartial: false,
  },
  {
    name: "go-git",
    words: () => [installed("bin/go-git-client")],
    deepens: false,
    isPartial: false,
  },
  {
    name: "JGit",
    words: () => {
      const classes = `${installed("classes")}:${installed("jars/*")}`;
      return ["java", "-XX:TieredStopAtLevel=1", "-cp", classes, "JGitClient"];
    },
    deepens: true,
    isPartial: false,
  },
  {
    name: "a newer git",
    words: () => ["bash", program("git_client.sh"), installed("git/git")],
    deepens: true,
    isPartial: true,
  },
];

/** Whose the requests are. */
export interface GitCredential {
  readonly user: string;
  readonly secret: string;
}

/** Runs a client. */
export async function runForeign(
  client: ForeignGit,
  args: readonly string[],
  { user, secret, home }: GitCredential & { readonly home: string },
): Promise<GitRun> {
  const [command = "", ...before] = client.words();
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...before, ...args],
    cwd: home,
    clearEnv: true,
    env: {
      HOME: home,
      PATH: Deno.env.get("PATH") ?? "",
      LC_ALL: "C.UTF-8",
      GIT_USER: user,
      GIT_SECRET: secret,
      MUSTER_GIT_CLIENTS: gitClients(),
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
