import assert from "node:assert/strict";
import { commitFiles, withProject } from "../../support/projects.ts";

Deno.test("lines of a file are read by their numbers, with the length of the file", async () => {
  await withProject(async (test) => {
    const content = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join("\r\n");
    await commitFiles(test, { "a.txt": content, "empty": "", "x.bin": Uint8Array.of(0, 255) });
    const some = await test.answer("GET /api/lines?path=a.txt&first=10&count=2");
    assert.deepEqual(some.lines, ["line 10", "line 11"]);
    assert.deepEqual([some.first, some.total_lines, some.size], [10, 30, content.length]);
    const all = await test.answer("GET /api/lines?path=a.txt");
    assert.deepEqual([all.lines.length, all.lines.at(-1)], [30, "line 30"]);
    const behind = await test.answer("GET /api/lines?path=a.txt&first=31");
    assert.deepEqual([behind.lines, behind.total_lines], [[], 30]);
    assert.equal((await test.answer("GET /api/lines?path=empty")).total_lines, 0);
    const binary = await test.answer("GET /api/lines?path=x.bin");
    assert.deepEqual([binary.is_binary, binary.lines, binary.size], [true, [], 2]);
    assert.equal((await test.send("GET /api/lines?path=a.txt&first=0")).status, 400);
    assert.equal((await test.send("GET /api/lines?path=none")).status, 404);
  });
});

Deno.test("a line that is too long is cut at a character, and named", async () => {
  await withProject(async (test) => {
    await commitFiles(test, { "a.txt": `short\n${"é".repeat(15_000)}\nend\n` });
    const { lines, cut_lines } = await test.answer("GET /api/lines?path=a.txt");
    assert.deepEqual(cut_lines, [2]);
    assert.equal(lines[1], "é".repeat(10_000));
    assert.equal(lines[2], "end");
  });
});

Deno.test("a diff of many files comes in pages, and within a number of bytes", async () => {
  await withProject(async (test) => {
    const names = Array.from({ length: 12 }, (_, i) => `f${String(i).padStart(2, "0")}.txt`);
    await commitFiles(test, Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    const page = await test.answer("GET /api/diff?per_page=5&page=3");
    assert.equal(page.total, 12);
    assert.deepEqual(page.files.map(({ name }: { name: string }) => name), names.slice(10));
    const bounded = await test.answer("GET /api/diff?max_bytes=100");
    assert.equal(bounded.files.length, 12);
    assert.equal(bounded.files[0].is_truncated, false);
    assert.equal(bounded.files[11].is_truncated, true);
  });
});

Deno.test("the timeline takes users, paths and moments, and lays out its graph", async () => {
  await withProject(async (test) => {
    const first = await commitFiles(test, { "a/one.txt": "1" });
    const second = await commitFiles(test, { "b.txt": "2" });
    const uuids = async (query: string) =>
      (await test.answer(`GET /api/timeline?${query}`)).checkins
        .map(({ uuid }: { uuid: string }) => uuid);
    assert.deepEqual(await uuids("path=a"), [first]);
    assert.deepEqual(await uuids(`after=${first}`), [second]);
    assert.deepEqual(await uuids("user=nobody"), []);
    const { graph } = await test.answer("GET /api/timeline?graph=true");
    assert.deepEqual(graph[0], {
      lane: 0,
      passing: [],
      links: [{ parent: first, lane: 0, is_merge: false }],
    });
  });
});

Deno.test("the activity has events of every kind, or of one", async () => {
  await withProject(async (test) => {
    await commitFiles(test, { "a.txt": "1" });
    await test.answer("POST /api/tickets", { as: test.caller, body: { title: "Crash" } });
    const kinds = async (query: string) =>
      [
        ...new Set(
          (await test.answer(`GET /api/activity?${query}`)).events
            .map(({ kind }: { kind: string }) => kind),
        ),
      ].sort();
    assert.deepEqual(await kinds(""), ["checkin", "ticket"]);
    assert.deepEqual(await kinds("kind=ticket"), ["ticket"]);
    assert.equal((await test.send("GET /api/activity?kind=x")).status, 400);
  });
});
