import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { run, succeed } from "../support/commands.ts";
import { freePort } from "../support/free_port.ts";
import { peer } from "../support/peers.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { asked } from "../support/until.ts";

Deno.test({
  name: "muster project mirror sets, shows, runs and removes a mirror; the program runs git",
  ...peer("git"),
  fn: async () => {
    const environment = { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" };
    await using program = await startProgram({ environment });
    await succeed(program, "project", "create", "demo");
    const remote = `http://127.0.0.1:${freePort()}/demo.git`;
    const set = ["project", "mirror", "set", "demo", remote, "--user", "bot", "--password-stdin"];
    const done = await runMuster([...set, "--every", "30"], {
      folder: program.folder,
      environment: { MUSTER_URL: program.api },
      stdin: "s3cret\n",
    });
    assert.equal(done.code, 0, done.stderr);
    await asked(
      async () => await (await call(program, "GET", "/v1/projects/demo/mirror")).json(),
      (view) => view.last_run_at !== null && !view.running,
    );
    const shown = await succeed(program, "project", "mirror", "show", "demo");
    assert.match(shown, /^password +stored$/m);
    assert.match(shown, /^every +30 minutes$/m);
    assert.match(shown, /^last error +git push failed: /m);
    assert.doesNotMatch(shown, /s3cret/);
    assert.match(await succeed(program, "project", "mirror", "run", "demo"), /^The mirror runs/);
    const upstream = remote.replace("demo.git", "demo");
    await succeed(program, "project", "mirror", "set", "demo", "--from", upstream);
    const both = await succeed(program, "project", "mirror", "show", "demo");
    assert.match(both, new RegExp(`^pulls from +${upstream}$`, "m"));
    assert.match(both, new RegExp(`^pushes to +${remote}\nuser +bot\npassword +stored$`, "m"));
    assert.match(both, /^every +30 minutes$/m);
    const neither = await run(program, "project", "mirror", "set", "demo");
    assert.match(neither.stderr, /^Give a Git remote, or --from-git or --from with a URL/);
    await succeed(program, "project", "mirror", "remove", "demo");
    const gone = await run(program, "project", "mirror", "show", "demo");
    assert.match(gone.stderr, /^The project "demo" has no mirror/);
  },
});
