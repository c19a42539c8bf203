import assert from "node:assert/strict";
import { BY_OPERATOR } from "../../support/services.ts";
import { commitFiles, withProject } from "../../support/projects.ts";
import { asked } from "../../support/until.ts";
import { THOROUGH } from "../../support/level.ts";

Deno.test("diff, blame and history show how a file changed", async () => {
  await withProject(async (test) => {
    const { answer, send } = test;
    const first = await commitFiles(test, { "src/a.txt": "one\ntwo\n" });
    const second = await commitFiles(test, { "src/a.txt": "one\n2\n", "b.txt": "b\n" });

    const diff = await answer(`GET /api/diff?from=${first.slice(0, 12)}&to=trunk&path=src`);
    assert.deepEqual([diff.from, diff.to], [first, second]);
    assert.deepEqual(
      diff.files.map(({ name, change_type, diff }: Record<string, string>) => [
        name,
        change_type,
        diff,
      ]),
      [[
        "src/a.txt",
        "modified",
        "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
      ]],
    );
    const own = await answer(`GET /api/diff?to=${second}&context=0`);
    assert.deepEqual([own.from, own.files.length], [first, 2]);

    const { checkin, path, lines } = await answer("GET /api/blame?path=src/a.txt");
    assert.deepEqual([checkin, path], [second, "src/a.txt"]);
    assert.deepEqual(
      lines.map(({ number, uuid, text }: Record<string, string>) => [number, uuid, text]),
      [[1, first, "one"], [2, second, "2"]],
    );

    const history = await answer("GET /api/history?path=src/a.txt&per_page=1");
    assert.deepEqual(
      [history.total, history.total_pages, history.checkins[0].uuid],
      [2, 2, second],
    );
    const rest = await answer("GET /api/history?path=src/a.txt&per_page=1&page=2");
    assert.equal(rest.checkins[0].uuid, first);

    await commitFiles(test, { "binary": new Uint8Array([0, 1]) });
    const refused: [string, number][] = [
      ["GET /api/diff?from=nowhere", 404],
      ["GET /api/diff?path=nothing", 404],
      ["GET /api/diff?context=-1", 400],
      ["GET /api/blame", 400],
      ["GET /api/blame?path=nothing", 404],
      ["GET /api/blame?path=binary", 400],
      ["GET /api/history", 400],
      ["GET /api/history?path=nothing", 404],
      ["GET /api/history?path=src/a.txt&checkin=nowhere", 404],
    ];
    for (const [request, status] of refused) {
      assert.equal((await send(request)).status, status, request);
    }
  });
});

Deno.test("a check-in comes as an archive, the same bytes each time", async () => {
  await withProject(async (test) => {
    const { send, api } = test;
    const uuid = await commitFiles(test, { "a/b.txt": "text", "c.txt": "more" });
    for (const ending of ["zip", "tar.gz"]) {
      const whole = await send(`GET /api/archive/trunk.${ending}`);
      assert.equal(whole.status, 200);
      const bytes = new Uint8Array(await whole.arrayBuffer());
      assert.equal(whole.headers.get("content-length"), `${bytes.length}`);
      assert.equal(
        whole.headers.get("content-disposition")?.split("; ")[1],
        `filename="demo-${uuid.slice(0, 10)}.${ending}"`,
      );
      const again = await send(`GET /api/archive/${uuid}.${ending}`);
      assert.deepEqual(new Uint8Array(await again.arrayBuffer()), bytes);
      const etag = whole.headers.get("etag") ?? "";
      const held = await send(`GET /api/archive/tip.${ending}`, {
        headers: { "if-none-match": etag },
      });
      assert.equal(held.status, 304);
      assert.equal((await send(`HEAD /api/archive/tip.${ending}`)).headers.get("etag"), etag);
      const command = ending === "zip" ? ["unzip", "-p", "-"] : ["tar", "-xzO"];
      if (ending === "zip") continue;
      const child = new Deno.Command(command[0] ?? "", {
        args: command.slice(1),
        stdin: "piped",
        stdout: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(bytes);
      await writer.close();
      const { stdout } = await child.output();
      assert.equal(new TextDecoder().decode(stdout), "textmore");
    }
    for (const name of ["trunk", "nowhere.zip", ".zip", "trunk.rar"]) {
      assert.equal((await send(`GET /api/archive/${name}`)).status, 404, name);
    }
    const { folder } = api.services.hosting.repositories.files;
    const left = Array.from(Deno.readDirSync(folder), ({ name }) => name)
      .filter((name) => name.startsWith(".archive-"));
    assert.deepEqual(left, []);
  });
});

Deno.test("the number of concurrent archives is bounded, and an abandoned one makes room", async () => {
  await withProject(async ({ send }) => {
    const open: Response[] = [];
    for (let count = 0; count < 16; count++) open.push(await send("GET /api/archive/trunk.zip"));
    assert.ok(open.every(({ status }) => status === 200));
    const refused = await send("GET /api/archive/trunk.zip");
    assert.equal(refused.status, 429);
    assert.match((await refused.json()).error, /archives/);
    await open.pop()?.body?.cancel();
    await open.pop()?.arrayBuffer();
    for (let count = 0; count < 2; count++) open.push(await send("GET /api/archive/trunk.zip"));
    assert.ok(open.every(({ status }) => status === 200));
    for (const { body } of open) await body?.cancel();
  });
});

Deno.test("a search looks into comments, tickets with their comments, and wiki pages", async () => {
  await withProject(async (test) => {
    const { answer, send, api, project } = test;
    const uuid = await commitFiles(test, { "src/zebra.ts": "const quagga = 1;\n// zebra\n" });
    const write = (
      work: (
        repository: Parameters<
          Parameters<typeof api.services.hosting.repositories.write>[1]["write"]
        >[0],
        stamp: { user: string; date: number },
      ) => Promise<unknown>,
    ) => api.services.hosting.repositories.write(project, { caller: BY_OPERATOR, write: work });
    await write((repository, stamp) =>
      repository.changeWiki({ ...stamp, title: "Animals", text: "The zebra has stripes" })
    );
    await write((repository, stamp) =>
      repository.changeTicket({
        ...stamp,
        fields: [
          { name: "title", value: "Stripes", append: false },
          { name: "icomment", value: "A zebra ran away", append: false },
        ],
      })
    );
    const found = await answer("GET /api/search?q=zebra");
    assert.deepEqual(found.checkins, []);
    assert.equal(found.tickets[0].title, "Stripes");
    assert.equal(found.wiki[0].name, "Animals");
    assert.deepEqual(found.totals, { checkins: 0, tickets: 1, wiki: 1 });
    assert.deepEqual([found.total, found.total_pages, found.per_page], [2, 1, 25]);
    assert.equal((await answer("GET /api/search?q=files")).checkins[0].uuid, uuid);

    const code = await answer("GET /api/search?q=zebra&kind=code");
    assert.deepEqual(
      code.code.map(({ path, line }: { path: string; line: number }) => [path, line]),
      [["src/zebra.ts", 2]],
    );
    assert.equal(code.checkins, undefined);
    assert.deepEqual((await answer("GET /api/search?q=zebra&page=2")).wiki, []);
    for (const query of ["", "?q=", "?q=%20"]) {
      const response = await send(`GET /api/search${query}`);
      assert.equal(response.status, 400);
      assert.equal((await response.json()).error, "Query parameter 'q' is required");
    }
    assert.equal((await send("GET /api/search?q=a&kind=all")).status, 400);
    assert.equal((await send(`GET /api/search?q=${"a".repeat(1001)}`)).status, 400);
    assert.equal((await send("GET /api/search?q=%22NEAR(%20OR%20%27*%00")).status, 200);
  });
});

Deno.test("technotes, forum threads and attachments can be read", async () => {
  await withProject(async (test) => {
    const { answer, send, api, project } = test;
    const { repositories } = api.services.hosting;
    const content = new TextEncoder().encode("attached");
    const note = await repositories.write(project, {
      caller: BY_OPERATOR,
      write: (repository, stamp) =>
        repository.changeTechnote({
          ...stamp,
          eventDate: stamp.date,
          comment: "Release day",
          text: "We *released*",
        }),
    });
    const post = await repositories.write(project, {
      caller: BY_OPERATOR,
      write: (repository, stamp) =>
        repository.post({
          ...stamp,
          place: { title: "Question" },
          text: "How?",
          mimetype: "text/plain",
        }),
    });
    await repositories.write(project, {
      caller: BY_OPERATOR,
      write: (repository, stamp) =>
        repository.changeWiki({ ...stamp, title: "Page", text: "Hello" }),
    });
    await repositories.write(project, {
      caller: BY_OPERATOR,
      write: (repository, stamp) =>
        repository.attach({ ...stamp, target: "Page", name: "a.html", content }),
    });
    const notes = await answer("GET /api/technotes");
    assert.deepEqual([notes.total, notes.technotes[0].comment], [1, "Release day"]);
    const { id } = notes.technotes[0];
    assert.equal((await answer(`GET /api/technotes/${id.slice(0, 8)}`)).content, "We *released*");
    const threads = await answer("GET /api/forum");
    assert.deepEqual([threads.total, threads.threads[0].title], [1, "Question"]);
    const thread = await answer(`GET /api/forum/${threads.threads[0].uuid.slice(0, 10)}`);
    assert.deepEqual(thread.posts.map(({ content }: { content: string }) => content), ["How?"]);
    const { attachments } = await answer("GET /api/attachments?target=Page");
    assert.deepEqual([attachments[0].name, attachments[0].size], ["a.html", content.length]);
    const file = await send("GET /api/attachments/content?target=Page&name=a.html", {
      headers: { range: "bytes=0-2" },
    });
    assert.equal(file.status, 206);
    assert.equal(await file.text(), "att");
    assert.equal(file.headers.get("content-type"), "text/plain; charset=utf-8");
    for (
      const request of [
        "GET /api/technotes/ffff",
        "GET /api/technotes/x",
        "GET /api/forum/ffff",
        "GET /api/attachments/content?target=Page&name=b.html",
      ]
    ) assert.equal((await send(request)).status, 404, request);
    assert.deepEqual((await answer("GET /api/attachments?target=Nothing")).attachments, []);
    assert.ok(note !== undefined && post !== undefined);
  });
});

Deno.test(
  "a repository with much to index is indexed in the background, and a search says so",
  THOROUGH,
  async () => {
    await withProject(async (test) => {
      const names = Array.from({ length: 2001 }, (_, number) => `file${number}.txt`);
      await commitFiles(test, Object.fromEntries(names.map((name) => [name, "A zebra"])));
      const search = () => test.answer("GET /api/search?q=zebra&kind=code");
      const found = await asked(search, ({ is_complete }) => is_complete);
      assert.equal(found.totals.code, 2001);
    });
  },
);
