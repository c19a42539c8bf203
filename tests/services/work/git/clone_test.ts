/** `git clone` and `git fetch` of projects that were made here. */
import assert from "node:assert/strict";
import { EVERYTHING, type FetchRequest } from "../../../../services/engines/git/mod.ts";
import { GUEST } from "../../../../services/people/identity/mod.ts";
import { peer } from "../../../support/peers.ts";
import { commitFiles } from "../../../support/projects.ts";
import { GrowingFile } from "../../../../services/work/git/mod.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";

/** A test that needs `git`. */
function gitTest(name: string, run: (test: GitTest) => Promise<void>): void {
  Deno.test({ name, ...peer("git"), fn: () => withGit(run) });
}

/** Runs a test once for each version of the protocol. */
function inBothVersions(name: string, run: (test: GitTest, version: string) => Promise<void>) {
  for (const version of [2, 0]) {
    gitTest(`${name}, in version ${version} of the protocol`, async (test) => {
      await run(test, `protocol.version=${version}`);
    });
  }
}

inBothVersions("a clone has the files of the project", async (test, version) => {
  await commitFiles(test, {
    "README.md": "hello\n",
    "src/a/b.ts": "1\n",
    "ü ö.txt": "x",
    empty: "",
  });
  await commitFiles(test, { "README.md": "hello there\n", "src/c.ts": "2\n" });
  const clone = await test.clone(version);
  assert.equal(await Deno.readTextFile(`${clone.folder}/README.md`), "hello there\n");
  assert.equal(await Deno.readTextFile(`${clone.folder}/src/a/b.ts`), "1\n");
  assert.equal(await Deno.readTextFile(`${clone.folder}/ü ö.txt`), "x");
  assert.equal(await Deno.readTextFile(`${clone.folder}/empty`), "");
  assert.equal((await clone.git("branch", "--show-current")).trim(), "trunk");
  assert.equal((await clone.log()).length, 3);
  assert.equal((await clone.git("remote", "show", "origin")).includes("HEAD branch: trunk"), true);
});

inBothVersions("a fetch gets what is new, and only that", async (test, version) => {
  await commitFiles(test, { "a.txt": "one\n".repeat(50), "b.txt": "b\n" });
  const clone = await test.clone(version);
  await clone.git("config", "protocol.version", version.slice(-1));
  await clone.git("fetch", "--quiet");
  await commitFiles(test, { "a.txt": "one\n".repeat(50) + "two\n" });
  await commitFiles(test, { "c/d.txt": "new\n" });
  await clone.git("fetch", "--quiet");
  await clone.check();
  assert.equal((await clone.log("origin/trunk")).length, 4);
  await clone.git("pull", "--quiet");
  assert.equal(await Deno.readTextFile(`${clone.folder}/c/d.txt`), "new\n");
  const fresh = await test.clone(version);
  assert.equal(await fresh.refs("refs/remotes"), await clone.refs("refs/remotes"));
});

inBothVersions("a clone may end at a depth, and be deepened", async (test, version) => {
  for (let count = 1; count <= 6; count++) {
    await commitFiles(test, { "a.txt": `${count}\n`, [`dir/${count}.txt`]: "x\n" });
  }
  const clone = await test.clone(version, "--depth=2");
  await clone.git("config", "protocol.version", version.slice(-1));
  assert.equal((await clone.log()).length, 2);
  await commitFiles(test, { "a.txt": "7\n" });
  await clone.git("fetch", "--quiet");
  await clone.check();
  assert.equal((await clone.log("origin/trunk")).length, 3);
  await clone.git("fetch", "--quiet", "--depth=1");
  assert.equal((await clone.log("origin/trunk")).length, 1);
  await clone.git("fetch", "--quiet", "--deepen=2");
  await clone.check();
  assert.equal((await clone.log("origin/trunk")).length, 5);
  await clone.git("fetch", "--quiet", "--unshallow");
  await clone.check();
  assert.equal((await clone.log("origin/trunk")).length, 8);
});

gitTest("a clone may leave out files, and gets them when it needs them", async (test) => {
  await commitFiles(test, { "a.txt": "old\n", "big.txt": "big\n".repeat(1000) });
  await commitFiles(test, { "a.txt": "new\n" });
  for (const filter of ["blob:none", "blob:limit=1k", "tree:0"]) {
    const clone = await test.clone(`--filter=${filter}`, "--no-checkout");
    const missing = await clone.git("rev-list", "--objects", "--all", "--missing=print");
    assert.match(missing, /^\?/m, filter);
    await clone.git("checkout", "--quiet", "trunk");
    assert.equal(await Deno.readTextFile(`${clone.folder}/a.txt`), "new\n");
    assert.equal(await clone.git("show", "trunk~1:a.txt"), "old\n");
  }
});

inBothVersions("a new project is an empty repository", async (test, version) => {
  const clone = await test.clone(version);
  assert.equal(await clone.refs(), "");
  if (version.endsWith("2")) {
    assert.equal((await clone.git("symbolic-ref", "HEAD")).trim(), "refs/heads/trunk");
  }
  await commitFiles(test, { "a.txt": "a\n" });
  await clone.git("fetch", "--quiet");
  assert.equal((await clone.log("origin/trunk")).length, 2);
});

gitTest("a private project asks for a credential, and is not there for others", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const refused = await test.client.run(["clone", test.bareUrl, "guest"]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /could not read Username|Authentication failed/);
  const unknown = await test.client.run(["clone", test.bareUrl.replace("demo", "none"), "guest"]);
  assert.equal(unknown.stderr.replaceAll("none", "demo"), refused.stderr);
  const token = test.outsider.slice("Bearer ".length);
  const outsider = test.bareUrl.replace("//", `//stranger-1:${token}@`);
  const stranger = await test.client.run(["clone", outsider, "stranger"]);
  assert.match(stranger.stderr, /not found/);
});

gitTest("tags and branches are references", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const hash = await commitFiles(test, { "a.txt": "b\n" });
  await test.answer("POST /api/branches", { as: test.caller, body: { name: "side", from: hash } })
    .catch(() => {});
  await test.answer("POST /api/tags", { as: test.caller, body: { name: "v1", checkin: hash } })
    .catch(() => {});
  const clone = await test.clone();
  assert.match(await clone.refs(), /refs\/remotes\/origin\/trunk/);
});

gitTest("clones after the first one share a pack, which grows with the project", async (test) => {
  await commitFiles(test, { "a.txt": "one\n".repeat(100), "b.txt": "b\n", noise: noise(2) });
  const first = await test.clone();
  const { files } = test.api.services.hosting.repositories;
  const pack = files.pathOf(test.project).replace(/fossil$/, "pack");
  const kept = await Deno.readFile(pack);
  const second = await test.clone();
  assert.deepEqual(await Deno.readFile(pack), kept);
  assert.equal(await second.refs(), await first.refs());
  await commitFiles(test, { "a.txt": "one\n".repeat(99) + "two\n", "c/d.txt": "d\n" });
  await commitFiles(test, { "a.txt": "one\n".repeat(100) });
  const third = await test.clone();
  const fourth = await test.clone();
  assert.equal(await fourth.refs(), await third.refs());
  assert.notDeepEqual(await Deno.readFile(pack), kept);
  assert.equal((await fourth.log()).length, 4);
  assert.equal((await test.clone("--single-branch")).folder !== "", true);
  await first.git("fetch", "--quiet");
  await first.check();
});

gitTest(
  "a browser at the address is led to the project's page, and old clients get a sentence",
  async (test) => {
    const page = await fetch(test.bareUrl, { redirect: "manual" });
    assert.equal(page.status, 303);
    assert.equal(page.headers.get("location"), "/projects/demo");
    const headers = { authorization: test.caller };
    const old = await fetch(`${test.bareUrl}/info/refs`, { headers });
    assert.equal(old.status, 404);
    assert.match(await old.text(), /smart protocol/);
    const other = await fetch(`${test.bareUrl}/info/refs?service=git-other`, { headers });
    assert.equal(other.status, 403);
    await other.body?.cancel();
    const guest = await fetch(`${test.bareUrl}/info/refs?service=git-upload-pack`);
    assert.equal(guest.headers.get("www-authenticate"), 'Basic realm="muster"');
    await guest.body?.cancel();
  },
);

gitTest("a clone of another address of the project is told the right one", async (test) => {
  for (const path of ["/projects/demo/fossil", "/projects/none/fossil"]) {
    const { code, stderr } = await test.client.run(["clone", test.origin + path, "astray"]);
    assert.notEqual(code, 0);
    const slug = path.split("/")[2];
    assert.match(stderr, new RegExp(`The address for git is ${test.origin}/projects/${slug}.git`));
  }
});

gitTest("a clone of an address without .git is led to it", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const { code } = await test.client.run(["clone", test.url.slice(0, -".git".length), "led"]);
  assert.equal(code, 0);
});

gitTest(
  "bodies may be compressed and in chunks, within bounds, and nonsense is refused",
  async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    const type = "application/x-git-upload-pack-request";
    const send = async (body: BodyInit, more: Record<string, string> = {}) => {
      const headers = {
        authorization: test.caller,
        "content-type": type,
        "git-protocol": "version=2",
      };
      const answer = await fetch(`${test.bareUrl}/git-upload-pack`, {
        method: "POST",
        headers: { ...headers, ...more },
        body,
      });
      return { status: answer.status, text: await answer.text() };
    };
    const list = "0014command=ls-refs\n00010009peel\n0000";
    const zipped = new Blob([list]).stream().pipeThrough(new CompressionStream("gzip"));
    const found = await send(await new Response(zipped).arrayBuffer(), {
      "content-encoding": "gzip",
    });
    assert.match(found.text, /refs\/heads\/trunk/);
    const chunked = await send(new Blob([list]).stream());
    assert.equal(chunked.text, found.text);
    const bomb = new Blob([new Uint8Array(40 * 1024 * 1024)]).stream()
      .pipeThrough(new CompressionStream("gzip"));
    const tooLong = await send(await new Response(bomb).arrayBuffer(), {
      "content-encoding": "gzip",
    });
    assert.equal(tooLong.status, 413);
    assert.equal((await send("x", { "content-encoding": "gzip" })).status, 400);
    assert.equal((await send("x", { "content-encoding": "br" })).status, 400);
    assert.match((await send("00zz")).text, /^....ERR A packet has no length/);
    assert.match(
      (await send("0010command=nope0000")).text,
      /ERR This server has no command "nope"/,
    );
    const want = `0012command=fetch\n00010032want ${"1".repeat(40)}\n0009done\n0000`;
    assert.match((await send(want)).text, /ERR not our ref 1{40}/);
    assert.equal((await send(list, { "content-type": "text/plain" })).status, 400);
  },
);

gitTest("objects that no reference names are fetched by their hashes", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  await commitFiles(test, { "a.txt": "b\n" });
  const clone = await test.clone("--depth=1");
  const whole = await test.clone();
  const old = (await whole.git("rev-parse", "HEAD~")).trim();
  await clone.git("fetch", "--quiet", "--depth=1", "origin", old);
  assert.equal(await clone.git("show", "FETCH_HEAD:a.txt"), "a\n");
});

gitTest("a damaged companion is made anew within the request that finds it", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const before = await (await test.clone()).refs();
  const { repositories } = test.api.services.hosting;
  const path = repositories.files.pathOf(test.project).replace(/fossil$/, "objects");
  for (const damaged of ["refs", "objects"]) {
    await repositories.files.whileClosed(test.project, async () => {
      for (const ending of ["-wal", "-shm"]) await Deno.remove(path + ending).catch(() => {});
      if (damaged === "objects") await spoil(path);
      else await Deno.writeTextFile(path, "no database".repeat(1000));
    });
    assert.equal(await (await test.clone()).refs(), before);
  }
});

/** Overwrites all of a database but its first page. */
async function spoil(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true, write: true });
  const { size } = await file.stat();
  await file.seek(4096, Deno.SeekMode.Start);
  await file.write(new Uint8Array(size - 4096).fill(0x5a));
}

Deno.test({
  name: "the pack of a clone is kept only if the project's quota leaves room",
  ...peer("git"),
  fn: () =>
    withGit(async (test) => {
      await commitFiles(test, { noise: noise(2) });
      await test.clone();
      const { files } = test.api.services.hosting.repositories;
      const pack = files.pathOf(test.project).replace(/fossil$/, "pack");
      await assert.rejects(Deno.stat(pack), Deno.errors.NotFound);
      const clone = await test.clone();
      assert.equal((await clone.log()).length, 2);
    }, { config: { limits: { project_bytes: 420_000 } } }),
});

/** So many times 60,000 bytes that cannot be compressed. */
function noise(times: number): Uint8Array {
  const bytes = new Uint8Array(times * 60_000);
  for (let at = 0; at < bytes.length; at += 60_000) {
    crypto.getRandomValues(bytes.subarray(at, at + 60_000));
  }
  return bytes;
}

gitTest("a client that reads nothing loses its pack, and its place", async (test) => {
  await commitFiles(test, { noise: noise(4) });
  const { api, project } = test;
  const { git } = api.services.hosting;
  const { refs } = await git.refs(project);
  const request: FetchRequest = {
    wants: refs.map(({ object }) => object),
    haves: [],
    isDone: true,
    waitsForDone: false,
    shallows: [],
    depth: null,
    filter: EVERYTHING,
    isThin: true,
    takesOffsets: true,
    includesTags: true,
    wantsProgress: false,
    sideBand: "large",
  };
  const caller = { principal: GUEST, address: "192.0.2.1" };
  const signal = new AbortController().signal;
  const { pack } = await git.fetch(project, request, { caller, signal, pack: "now" });
  assert.ok(pack instanceof GrowingFile);
  let isClosed = false;
  pack.onClosed(() => isClosed = true);
  assert.ok((await pack.read(new Uint8Array(10))) === 10);
  api.services.clock.advance(4 * 60_000);
  assert.equal(isClosed, false);
  api.services.clock.advance(2 * 60_000);
  assert.equal(isClosed, true);
});
