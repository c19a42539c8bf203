/** `muster project import` of a URL, by the real program. */
import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { run, succeed } from "../support/commands.ts";
import { commit, inline, PLAIN, streamOf } from "../support/odd_history.ts";
import { GitClient } from "../support/git_client.ts";
import { peer } from "../support/peers.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { GitServer } from "../services/work/mirrors/git_server.ts";

const environment = { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" };

async function fill(client: GitClient, upstream: GitServer): Promise<void> {
  const more = commit({ mark: 30, ref: "refs/heads/more", changes: inline("100644", "m", "m") });
  const args = ["-C", upstream.folder, "fast-import", "--quiet", "--date-format=raw-permissive"];
  await client.git(args, undefined, streamOf(more, ...PLAIN));
}

Deno.test({
  name: "muster project import fills a project from a URL, and leaves none that it could not fill",
  ...peer("git"),
  fn: async () => {
    using client = new GitClient();
    await using upstream = await GitServer.start(client.folder);
    await fill(client, upstream);
    upstream.require("bot", "s3cret");
    await using program = await startProgram({ environment });
    const refused = await run(program, "project", "import", "demo", upstream.url);
    assert.match(refused.stderr, /asks for a user and a password/);
    assert.equal((await call(program, "GET", "/v1/projects/demo")).status, 404);
    const inside = upstream.url.replace("://", "://bot:s3cret@");
    assert.notEqual((await run(program, "project", "import", "demo", inside)).code, 0);
    const args = ["project", "import", "demo", upstream.url, "--user", "bot", "--password-stdin"];
    const done = await runMuster([...args, "--visibility", "public"], {
      folder: program.folder,
      environment: { MUSTER_URL: program.api },
      stdin: "s3cret\n",
    });
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^14 check-ins in "demo"/);
    const mirror = await client.clone(`${program.api}/projects/demo.git`, "--mirror");
    assert.equal((await mirror.refs()).trim(), await upstream.refs());
    const follow = ["project", "mirror", "set", "demo", "--from-git", upstream.url];
    await succeed(program, ...follow);
    const shown = await succeed(program, "project", "mirror", "show", "demo");
    assert.match(shown, new RegExp(`^pulls from +${upstream.url}$`, "m"));
  },
});
