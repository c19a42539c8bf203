/** Imports from a URL that are interrupted: by Ctrl-C, by `kill -9` of the command, and of the server. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, order } from "../support/api.ts";
import { GitClient } from "../support/git_client.ts";
import { PLAIN, streamOf } from "../support/odd_history.ts";
import { peer } from "../support/peers.ts";
import { cleanEnvironment, musterCommand, type Program, startProgram } from "../support/program.ts";
import { GitServer } from "../services/work/mirrors/git_server.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const environment = { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" };
const IMPORT = "/v1/projects/demo/import";

/** What `GET …/import` answers; null if there is none. */
async function importOf(program: Program) {
  const response = await call(program, "GET", IMPORT);
  const text = await response.text();
  return response.status === 404 ? null : JSON.parse(text);
}

/** Starts the command and waits until the import has asked a server that never sends all. */
async function startImport(program: Program, url: string): Promise<Deno.ChildProcess> {
  const process = musterCommand(["project", "import", "demo", url, "--visibility", "public"], {
    cwd: program.folder,
    clearEnv: true,
    env: cleanEnvironment({ MUSTER_URL: program.api }),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  await asked(async () => (await importOf(program))?.phase ?? "", (phase) => phase === "receiving");
  return process;
}

/** What the data folder has of imports beside repositories: what came, and notes that tell of them. */
function leftIn(folder: string, kinds = /^\.(?:download|import)-/): string[] {
  const names = [...Deno.readDirSync(join(folder, "data", "projects"))].map(({ name }) => name);
  return names.filter((name) => kinds.test(name));
}

/** Runs a test with a Git server whose packs end only with their reader. */
async function withSlowUpstream(
  run: (upstream: GitServer, client: GitClient, folder: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    using client = new GitClient();
    await using upstream = await GitServer.start(client.folder);
    const args = ["-C", upstream.folder, "fast-import", "--quiet", "--date-format=raw-permissive"];
    await client.git(args, undefined, streamOf(...PLAIN));
    upstream.stalls = true;
    await run(upstream, client, folder);
  });
}

Deno.test({
  name: "Ctrl-C cancels an import from a URL, and kill -9 of the command leaves it to the server",
  ...peer("git"),
  fn: () =>
    withSlowUpstream(async (upstream, client, folder) => {
      await using program = await startProgram({ folder, environment });
      const interrupted = await startImport(program, upstream.url);
      interrupted.kill("SIGINT");
      const { code, stderr } = await interrupted.output();
      assert.notEqual(code, 0);
      assert.match(new TextDecoder().decode(stderr), /The import was cancelled/);
      // The project was made for it, and is gone with it.
      assert.equal((await call(program, "GET", "/v1/projects/demo")).status, 404);
      assert.deepEqual(leftIn(folder), []);
      const killed = await startImport(program, upstream.url);
      killed.kill("SIGKILL");
      await killed.output();
      assert.equal((await importOf(program)).state, "running");
      assert.equal(
        (await order(program, `DELETE ${IMPORT}`) as { state: string }).state,
        "cancelled",
      );
      assert.deepEqual(leftIn(folder), []);
      upstream.stalls = false;
      await order(program, `POST ${IMPORT}`, { url: upstream.url });
      await asked(async () => (await importOf(program)).state, (state) => state === "done");
      const mirror = await client.clone(urlOf(program), "--mirror");
      assert.equal((await mirror.refs()).trim(), await upstream.refs());
    }),
});

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  Deno.test({
    name:
      `an import that a ${signal} of the server interrupts leaves nothing, and is told as failed`,
    ...peer("git"),
    fn: () =>
      withSlowUpstream(async (upstream, client, folder) => {
        {
          await using program = await startProgram({ folder, environment });
          await order(program, "POST /v1/projects", { slug: "demo", visibility: "public" });
          await order(program, `POST ${IMPORT}`, { url: upstream.url });
          await asked(
            async () => (await importOf(program)).phase,
            (phase) => phase === "receiving",
          );
          await program.stop(signal);
        }
        await using program = await startProgram({ folder, environment });
        const { state, error, url } = await importOf(program);
        assert.deepEqual([state, url], ["failed", upstream.url]);
        assert.match(error, /The server ended during the import: nothing was stored/);
        assert.deepEqual(leftIn(folder, /^\.download-/), []);
        const empty = await client.git(["ls-remote", urlOf(program)]);
        assert.equal(empty, "");
        upstream.stalls = false;
        await order(program, `POST ${IMPORT}`, { url: upstream.url });
        await asked(async () => (await importOf(program)).state, (one) => one === "done");
        const mirror = await client.clone(urlOf(program), "--mirror");
        assert.equal((await mirror.refs()).trim(), await upstream.refs());
        assert.deepEqual(leftIn(folder), []);
      }),
  });
}

/** The project for `git`. */
function urlOf({ api }: Program): string {
  return String(new URL("/projects/demo.git", api));
}
