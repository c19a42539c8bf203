import assert from "node:assert/strict";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { Receiver } from "../services/work/webhooks/receiver.ts";
import { run, succeed } from "../support/commands.ts";
import { cleanEnvironment, musterWords, runMuster, startProgram } from "../support/program.ts";

const STREAM = `blob
mark :1
data 6
Hello

commit refs/heads/main
mark :2
committer Ann <ann@example.org> 1700000000 +0000
data 5
First
M 100644 :1 a.txt

commit refs/heads/main
mark :3
committer Ann <ann@example.org> 1700000100 +0000
data 6
Second
from :2
M 100755 :1 b.txt

`;

Deno.test("projects are made, changed, filled, exported and removed from the command line", async () => {
  await using program = await startProgram();
  await succeed(program, "agent", "register", "scout");
  await succeed(program, "project", "create", "site", "--visibility", "internal", "--name", "Site");
  await succeed(program, "project", "member", "add", "site", "scout", "write");
  await succeed(program, "project", "change", "site", "--description", "What we show");
  await succeed(program, "project", "change", "site", "--strikes", "5", "--landing-depth", "2");
  await succeed(program, "project", "change", "site", "--landing-depth", "default");
  const noNumber = await run(program, "project", "change", "site", "--claim-seconds", "soon");
  assert.equal(noNumber.code, 2);
  assert.match(noNumber.stderr, /--claim-seconds takes a number/);
  await succeed(program, "project", "archive", "site");
  const shown = await succeed(program, "project", "show", "site");
  assert.match(shown, /^description +What we show$/m);
  assert.match(shown, /^archived +yes$/m);
  assert.match(shown, /^git +http:.*\/projects\/site\.git$/m);
  assert.match(shown, /^strikes +5$/m);
  assert.match(shown, /^landing depth +default$/m);
  assert.match(shown, /^members +scout \(write\)$/m);
  await succeed(program, "project", "unarchive", "site");
  assert.match(await succeed(program, "project", "list"), /^site +internal +0 +Site$/m);
  await succeed(program, "project", "member", "remove", "site", "scout");
  assert.deepEqual(
    JSON.parse(await succeed(program, "project", "member", "list", "site", "--json")),
    [],
  );

  const environment = { MUSTER_URL: program.api };
  const { folder } = program;
  const fill = (stdin: string, ...args: string[]) =>
    runMuster(["project", "import", ...args], { folder, environment, stdin });
  const filled = await fill(STREAM, "tool", "-");
  assert.equal(filled.stdout, '2 check-ins in "tool"\n', filled.stderr);
  const again = await fill(STREAM, "tool", "-");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /is not empty/);
  const wrong = await fill("nonsense\n", "fresh");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /Line 1 of the stream/);
  const cut = await fill(STREAM.replaceAll("refs/heads/main", "refs/remotes/origin/main"), "fresh");
  assert.match(cut.stderr, /without "done" and has no branch: .*--use-done-feature/);
  assert.doesNotMatch(cut.stderr, /--partial/);
  assert.doesNotMatch(await succeed(program, "project", "list"), /fresh/);
  const remote = "commit refs/remotes/origin/side\ncommitter A <a@b> 1700000200 +0000\ndata 1\nx\n";
  const some = await fill(`${STREAM}${remote}from :3\n\ndone\n`, "some", "-");
  assert.equal(some.stdout, '2 check-ins in "some"\n', some.stderr);
  assert.match(some.stderr, /^ref: refs\/remotes\/origin\/side: A branch of a remote was left out/);
  await succeed(program, "project", "remove", "some");

  await succeed(program, "project", "export", "tool", "tool.fossil");
  const refused = await run(program, "project", "export", "tool", "tool.fossil");
  assert.match(refused.stderr, /already exists/);
  assert.match(await succeed(program, "project", "import", "copy", "tool.fossil"), /^2 check-ins/);
  assert.match(
    await succeed(program, "project", "export", "copy", "--git"),
    /^commit refs\/heads\//m,
  );
  await succeed(program, "project", "remove", "copy");
  assert.doesNotMatch(await succeed(program, "project", "list"), /copy/);
});

Deno.test("what is done stays done if its report cannot be printed", async () => {
  await using program = await startProgram();
  const { folder } = program;
  /** Runs a command through the shell, which sends its output elsewhere. */
  const through = async (redirection: string, ...args: string[]) => {
    const { code, stderr } = await new Deno.Command("bash", {
      args: [
        "-c",
        `set -o pipefail; printf %s "$STREAM" | "$@" ${redirection}`,
        "bash",
        ...musterWords(),
        ...args,
      ],
      cwd: folder,
      clearEnv: true,
      env: { ...cleanEnvironment({ MUSTER_URL: program.api }), STREAM },
    }).output();
    return { code, stderr: new TextDecoder().decode(stderr) };
  };
  const full = await through(">/dev/full", "project", "import", "full");
  assert.equal(full.code, 0, full.stderr);
  assert.match(full.stderr, /^The report is not shown: Standard output cannot be written: /m);
  const ended = await through("| true", "project", "import", "ended");
  assert.equal(ended.code, 0, ended.stderr);
  const mute = await through(">/dev/full 2>/dev/full", "project", "import", "mute");
  assert.equal(mute.code, 0);
  const list = await succeed(program, "project", "list", "--json");
  const slugs = JSON.parse(list).map(({ slug }: { slug: string }) => slug);
  assert.deepEqual(slugs.toSorted(), ["ended", "full", "mute"]);
  const file = await through(">/dev/full", "fossil", "import", "x.fossil");
  assert.equal(file.code, 0, file.stderr);
  assert.ok((await Deno.stat(join(folder, "x.fossil"))).isFile);
  const kept = await through(">/dev/full", "backup", "kept.tar");
  assert.equal(kept.code, 0, kept.stderr);
  // An output that is the result is a failure, in one sentence.
  const result = await through(">/dev/full", "project", "export", "full");
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^Standard output cannot be written: [^\n]*\n$/);
});

Deno.test("a start removes the files that uploads and exports of a killed server left", async () => {
  const folder = await Deno.makeTempDir({ prefix: "muster-" });
  const projects = join(folder, "data", "projects");
  {
    await using program = await startProgram({ folder });
    assert.equal(await program.stop(), 0);
  }
  await Deno.mkdir(projects, { recursive: true });
  for (const name of [".upload-x", ".export-y", "removed"]) {
    await Deno.mkdir(join(projects, name));
    await Deno.writeTextFile(join(projects, name, "body"), "x");
  }
  await Deno.writeTextFile(join(projects, "tool.import"), "x");
  await Deno.writeTextFile(join(projects, "tool.fossil"), "x");
  await using _program = await startProgram({ folder });
  const left = Array.from(Deno.readDirSync(projects), ({ name }) => name).sort();
  assert.deepEqual(left, [".uploads", "removed", "tool.fossil"]);
});

Deno.test("webhooks are added, tested and removed from the command line", async () => {
  await using receiver = new Receiver();
  await using program = await startProgram({ config: "webhooks:\n  allow_private: true\n" });
  const webhook = (verb: string, ...args: string[]) =>
    succeed(program, "project", "webhook", verb, "site", ...args);
  await succeed(program, "project", "create", "site");
  const added = await webhook("add", receiver.url, "--types", "checkin,review");
  const [, id = ""] = /^id +(\S+)$/m.exec(added) ?? [];
  const [, secret = ""] = /^secret +(whsec_\S+)$/m.exec(added) ?? [];
  const list = await webhook("list");
  assert.match(list, new RegExp(`^${id} +on +checkin,review +${receiver.url}$`, "m"));
  assert.ok(secret !== "" && !list.includes(secret));
  assert.ok(!(await webhook("list", "--json")).includes(secret));

  assert.match(await webhook("ping", id), /^The delivery \S+ is queued$/m);
  const ping = await receiver.next();
  new Webhook(secret).verify(ping.body, ping.headers);
  const delivery = (ping.headers["webhook-id"] ?? "").replace("msg_", "");
  assert.match(await webhook("redeliver", id, delivery), /is queued/);
  assert.equal((await receiver.next()).headers["webhook-id"], `msg_${delivery}`);
  const [sent] = JSON.parse(await webhook("deliveries", id, "--limit", "1", "--json"));
  assert.deepEqual([sent.id, sent.type], [delivery, "ping"]);
  assert.match(await webhook("deliveries", id), new RegExp(`^${delivery} .* ping `, "m"));
  assert.equal(
    JSON.parse(await webhook("deliveries", id, "--before", delivery, "--json")).length,
    0,
  );

  await webhook("remove", id);
  const gone = await run(program, "project", "webhook", "ping", "site", id);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /There is no webhook/);
});
