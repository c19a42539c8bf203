/** What the `fossil` program pushes: it arrives whole, once, in the pusher's name, or not at all. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { BY_OPERATOR } from "../../../support/services.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

async function commit(
  { client }: SyncTest,
  { name, text, folder, more = [] }: {
    readonly name: string;
    readonly text: string;
    readonly folder: string;
    readonly more?: readonly string[];
  },
): Promise<string> {
  Deno.writeTextFileSync(`${folder}/${name}`, text);
  await client.fossil(["addremove"], folder);
  return await client.fossil(["commit", "--no-warnings", "-m", `Change ${name}`, ...more], folder);
}

async function eventsOf(test: SyncTest) {
  const page = await test.api.answer("GET /v1/events?limit=500") as {
    readonly events: readonly { readonly type: string; readonly actor: string }[];
  };
  return page.events;
}

async function timelineOf({ answer, caller }: SyncTest): Promise<string[]> {
  const { checkins } = await answer("GET /api/timeline", { as: caller });
  return checkins.map(({ comment }: { comment: string }) => comment);
}

judged("check-ins, merges, wiki pages, tickets and tags go both ways", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, otherUrl, answer, caller } = test;
    const folder = await client.checkout(url);
    await commit(test, { name: "a.txt", text: "one\n", folder });
    await commit(test, {
      name: "a.txt",
      text: "one, two\n",
      folder,
      more: ["--branch", "feature", "--tag", "v1"],
    });
    await client.fossil(["update", "trunk"], folder);
    await commit(test, { name: "b.txt", text: "b\n", folder });
    await client.fossil(["merge", "feature"], folder);
    await client.fossil(["commit", "-m", "Merge"], folder);
    client.write("page", "# A page\n");
    await client.fossil(["wiki", "create", "Page", "../page"], folder);
    await client.fossil(["ticket", "add", "title", "Broken", "status", "Open"], folder);
    await client.fossil(["tag", "add", "v2", "trunk"], folder);
    await client.fossil(["sync"], folder);
    assert.deepEqual(
      (await timelineOf(test)).slice(0, 4),
      ["Merge", "Change b.txt", "Change a.txt", "Change a.txt"],
    );
    const { tickets: [ticket] } = await answer("GET /api/tickets", { as: caller });
    assert.equal(ticket.title, "Broken");
    const { tags } = await answer("GET /api/tags", { as: caller });
    assert.deepEqual(tags.map(({ name }: { name: string }) => name).sort(), ["v1", "v2"]);
    await answer("PUT /api/wiki/Page", { as: caller, body: { content: "# Changed\n" } });
    await client.fossil(["update"], folder);
    assert.match(await client.fossil(["wiki", "export", "Page"], folder), /Changed/);
    const second = await client.checkout(otherUrl, "second");
    assert.equal(Deno.readTextFileSync(`${second}/a.txt`), "one, two\n");
    for (const path of [test.file, client.path("work.fossil"), client.path("second.fossil")]) {
      await test.assertSound(path);
    }
  });
});

judged("the events of a push are told once, in the pusher's name", async (program) => {
  await withSync(program, async (test) => {
    const { client, url } = test;
    const folder = await client.checkout(url);
    await commit(test, { name: "a.txt", text: "one\n", folder });
    await client.fossil(["ticket", "add", "title", "Broken"], folder);
    await client.fossil(["sync"], folder);
    await client.fossil(["sync"], folder);
    await test.catchUp();
    const pushed = (await eventsOf(test))
      .filter(({ type }) => type === "project.checkin" || type === "project.ticket");
    assert.deepEqual(
      pushed.map(({ type, actor }) => `${type} ${actor}`).sort(),
      ["project.checkin agent:caller", "project.ticket agent:caller"],
    );
    await test.assertSound();
    await test.assertSound(client.path("work.fossil"));
  });
});

judged(
  "a push to a protected branch is refused with the reason, and to another branch it passes",
  async (program) => {
    await withSync(program, async (test) => {
      const { client, url, send } = test;
      const folder = await client.checkout(url);
      const body = [{ pattern: "trunk", push: "nobody" }];
      const { status } = await send("PUT /api/protection", { body });
      assert.equal(status, 200);
      const output = await commit(test, { name: "a.txt", text: "one\n", folder }).catch(String);
      assert.match(output, /trunk/);
      assert.match(output, /protected|nobody/);
      assert.deepEqual(await timelineOf(test), ["initial empty check-in"]);
      await client.fossil(["amend", "current", "--branch", "mine"], folder);
      await client.fossil(["sync"], folder);
      const { checkins } = await test.answer("GET /api/timeline?branch=mine", { as: test.caller });
      assert.equal(checkins[0].comment, "Change a.txt");
      assert.deepEqual(
        await timelineOf(test),
        ["Change a.txt", "initial empty check-in"],
      );
      await test.assertSound();
      await test.assertSound(client.path("work.fossil"));
    });
  },
);

judged(
  "two clients push at the same time, and both have everything in the end",
  async (program) => {
    await withSync(program, async (test) => {
      const { client, url, otherUrl } = test;
      const folders = [await client.checkout(url, "one"), await client.checkout(otherUrl, "two")];
      for (const [index, folder] of folders.entries()) {
        await client.fossil(["settings", "autosync", "off"], folder);
        for (let i = 0; i < 5; i++) {
          const more = i === 0 ? ["--branch", `line-${index}`] : [];
          await commit(test, { name: `${index}-${i}.txt`, text: `${i}\n`, folder, more });
        }
      }
      await Promise.all(folders.map((folder) => client.fossil(["sync"], folder)));
      await Promise.all(folders.map((folder) => client.fossil(["sync"], folder)));
      assert.equal((await timelineOf(test)).length, 11);
      for (const path of [test.file, client.path("one.fossil"), client.path("two.fossil")]) {
        assert.match(await client.fossil(["info", "-R", path]), /check-ins: +11/);
        await test.assertSound(path);
      }
    });
  },
);

judged("a push that is cut off goes on with the next sync", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, origin } = test;
    const folder = await client.checkout(url);
    await client.fossil(["settings", "autosync", "off"], folder);
    for (const name of ["a", "b", "c"]) {
      Deno.writeFileSync(`${folder}/${name}.bin`, randomBytes(300_000));
      await commit(test, { name: `${name}.txt`, text: name, folder });
    }
    let messages = 0;
    const proxy = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const { pathname } = new URL(request.url);
        const answer = await fetch(origin + pathname, {
          method: request.method,
          headers: { "content-type": request.headers.get("content-type") ?? "" },
          body: await request.arrayBuffer(),
        });
        messages++;
        return messages < 2 ? answer : new Response("<html>cut off", { status: 502 });
      },
    );
    try {
      const cut = url.replace(/:\d+\//, `:${proxy.addr.port}/`);
      await client.run(["push", cut, "--once"], folder);
    } finally {
      await proxy.shutdown();
    }
    assert.equal(messages, 2);
    assert((await timelineOf(test)).length < 4);
    await client.fossil(["sync"], folder);
    assert.equal((await timelineOf(test)).length, 4);
    await test.assertSound();
    await test.assertSound(client.path("work.fossil"));
    const second = await client.checkout(test.otherUrl, "second");
    assert.deepEqual(Deno.readFileSync(`${second}/c.bin`), Deno.readFileSync(`${folder}/c.bin`));
  });
});

judged("unversioned files go both ways, without those of drafts for readers", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, send, caller, api } = test;
    const folder = await client.checkout(url);
    await commit(test, { name: "a.txt", text: "one\n", folder });
    for (const [tag, is_draft] of [["v1", false], ["v2", true]] as const) {
      const body = { tag_name: tag, name: tag, body: "", is_draft };
      assert.equal((await send("POST /api/releases", { as: caller, body })).status, 201);
      const headers = { "content-type": "application/octet-stream" };
      const path = `PUT /api/releases/${tag}/assets/file.bin`;
      const response = await api.send({
        who: "operator",
        request: path.replace("/api", `${test.base}/api`),
        body: new TextEncoder().encode(`file of ${tag}`),
        headers,
      });
      assert(response.ok, await response.text());
    }
    client.write("notes.txt", "notes\n".repeat(100));
    await client.fossil(
      ["uv", "add", "../notes.txt", "--as", "notes.txt", "--mtime", "2026-11-01"],
      folder,
    );
    await client.fossil(["uv", "sync"], folder);
    assert.match(await client.fossil(["uv", "cat", "releases/v1/file.bin"], folder), /file of v1/);
    assert.match(await client.fossil(["uv", "list"], folder), /releases\/v2/);
    await api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    await client.fossil(["clone", "--unversioned", `${test.origin}${test.base}`, "reader.fossil"]);
    const files = await client.fossil(["uv", "list", "-R", "reader.fossil"]);
    assert.match(files, /notes\.txt/);
    assert.match(files, /releases\/v1/);
    assert.doesNotMatch(files, /releases\/v2/);
    await client.fossil(["uv", "rm", "notes.txt"], folder);
    await client.fossil(["uv", "sync"], folder);
    await client.fossil(["uv", "sync", "-R", "reader.fossil"]);
    assert.doesNotMatch(await client.fossil(["uv", "list", "-R", "reader.fossil"]), /notes/);
    for (const path of [test.file, client.path("work.fossil"), client.path("reader.fossil")]) {
      await test.assertSound(path);
    }
  });
});

judged("a halted agent pulls and cannot push", async (program) => {
  await withSync(program, async (test) => {
    const { api, client, url } = test;
    const folder = await client.checkout(url);
    await commit(test, { name: "a.txt", text: "one\n", folder });
    await api.answer("POST /v1/halt", { reason: "drill" });
    await client.fossil(["pull"], folder);
    const before = await timelineOf({ ...test, caller: test.other });
    Deno.writeTextFileSync(`${folder}/b.txt`, "b\n");
    await client.fossil(["addremove"], folder);
    await client.fossil(["settings", "autosync", "off"], folder);
    await client.fossil(["commit", "--no-warnings", "-m", "Held"], folder);
    const { stdout, stderr } = await client.run(["push"], folder);
    assert.match(stdout + stderr, /All agents are halted: drill/);
    assert.deepEqual(await timelineOf({ ...test, caller: test.other }), before);
    await api.answer("DELETE /v1/halt");
    await client.fossil(["push"], folder);
    assert.equal((await timelineOf(test))[0], "Held");
  });
});

judged("a long push, whose deltas need what comes later, is stored whole", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, answer, caller } = test;
    const folder = await client.checkout(url);
    await client.fossil(["settings", "autosync", "off"], folder);
    for (let number = 0; number < 40; number++) {
      for (let file = 0; file < 50; file++) {
        const text = `${number} ${"z".repeat(file * 60)}`;
        Deno.writeTextFileSync(`${folder}/f${number}-${file}`, text);
      }
      await commit(test, { name: "all", text: `${number}\n`, folder });
    }
    assert.doesNotMatch(await client.fossil(["push"], folder), /Error/);
    assert.equal((await answer("GET /api/timeline", { as: caller })).total, 41);
    await test.assertSound();
  });
});
