/** What `kill -9` leaves of a `git push`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, registerAgent } from "../support/api.ts";
import { GitClient } from "../support/git_client.ts";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const COMMITS = 300;
/** How many bytes the log of the repository has when the program is killed, round by round. */
const KILL_AT = [1, 400_000, 1_500_000, 4_000_000];
const MAX_WAIT_MS = 30_000;

/** A line of commits on a branch, as a stream. */
function stream(branch: string): Uint8Array {
  const commits = Array.from({ length: COMMITS }, (_, at) => {
    const body = `${branch} ${at}\n`.repeat(200);
    return [
      `commit refs/heads/${branch}\nmark :${at + 1}`,
      `committer Eve <eve@example.org> ${1_700_000_000 + at} +0000\ndata 1\nx`,
      ...at === 0 ? [] : [`from :${at}`],
      `M 100644 inline f${at % 20}.txt\ndata ${body.length}\n${body}\n`,
    ].join("\n");
  });
  return new TextEncoder().encode(commits.join(""));
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}

Deno.test({
  name: "kill -9 in a push leaves all of it or nothing, and what was acknowledged",
  ...peer("git"),
  fn: async () => {
    await withFolder(async (folder) => {
      using client = new GitClient();
      const local = client.path("local");
      await client.git(["init", "--quiet", local]);
      let user: string | null = null;
      for (const [round, bytes] of KILL_AT.entries()) {
        const branch = `round${round}`;
        await client.git(["fast-import", "--quiet"], local, stream(branch));
        const tip = (await client.git(["rev-parse", branch], local)).trim();
        const urlOf = (api: string) => {
          const url = new URL("/projects/demo.git", api);
          [url.username, url.password] = ["builder", user!];
          return String(url);
        };
        let wasDone = false;
        {
          await using program = await startProgram({ folder });
          if (user === null) {
            ({ passphrase: user } = await registerAgent(program, "builder"));
            await (await call(program, "POST", "/v1/projects", { slug: "demo" })).text();
            const member = call(program, "PUT", "/v1/projects/demo/members/builder", {
              role: "write",
            });
            await (await member).text();
          }
          const pushing = client.run(["push", "--quiet", urlOf(program.api), branch], local);
          const log = join(folder, "data", "projects", "demo.fossil-wal");
          const before = sizeOf(log);
          const deadline = performance.now() + MAX_WAIT_MS;
          let isEnded = false;
          pushing.finally(() => isEnded = true);
          while (!isEnded && sizeOf(log) - before < bytes && performance.now() < deadline) {
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          await program.stop("SIGKILL");
          wasDone = (await pushing).code === 0;
        }
        await using program = await startProgram({ folder });
        const url = urlOf(program.api);
        const found = (await client.git(["ls-remote", url, `refs/heads/${branch}`])).split("\t")[0];
        if (wasDone || found !== "") assert.equal(found, tip);
        await client.git(["push", "--quiet", url, branch], local);
        const clone = await client.clone(url, "--mirror");
        assert.equal((await clone.git("rev-parse", branch)).trim(), tip);
      }
    });
  },
});
