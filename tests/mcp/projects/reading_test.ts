import assert from "node:assert/strict";
import { commitFiles } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { withTools } from "./support.ts";

const FILES = {
  "README.md": "# Demo\n\nRead me.\n",
  "src/main.c": "int main(void) {\n  return 0;\n}\n",
  "src/lib/list.c": "/* lists */\n",
  "logo.png": new Uint8Array([137, 80, 78, 71, 0, 1, 2]),
};

Deno.test("list_projects and get_project show the project and its figures", async () => {
  await withTools(async (test) => {
    await commitFiles(test, FILES);
    const { data: list } = await test.use("list_projects");
    assert.equal(list.total, 1);
    assert.equal(list.projects[0].slug, "demo");
    assert.deepEqual(list.projects[0].rights, ["read", "write", "status"]);
    const { data } = await test.use("get_project", { slug: "demo" });
    assert.equal(data.checkin_count, 2);
    assert.equal(data.fossil_checkin_count, 2);
    assert.equal(data.filename, "demo.fossil");
    assert.ok(data.file_size_bytes > 0);
    const { name, visibility } = await test.answer("GET /api/project");
    assert.deepEqual([data.name, data.visibility], [name, visibility]);
  });
});

Deno.test("a caller that reaches one project may leave out the slug", async () => {
  await withTools(async (test) => {
    assert.equal((await test.use("get_project")).data.slug, "demo");
    const { projects } = test.api.services.hosting;
    const request = { slug: "open", name: "Open", description: "", visibility: "public" } as const;
    await projects.create(request, BY_OPERATOR);
    assert.match(await test.fail("get_project"), /"slug" is required.*: demo, open$/);
    assert.equal((await test.use("get_project", {}, test.outsider)).data.slug, "open");
    assert.match(await test.fail("get_project", { slug: "demo" }, test.outsider), /list_projects/);
  });
});

Deno.test("browse_code lists a directory, or every file below it", async () => {
  await withTools(async (test) => {
    const checkin = await commitFiles(test, FILES);
    const { data: root } = await test.use("browse_code");
    assert.equal(root.checkin, checkin);
    assert.deepEqual(root.directories, ["src"]);
    const names = (data: { files: { name: string }[] }) => data.files.map(({ name }) => name);
    assert.deepEqual(names(root), ["README.md", "logo.png"]);
    const { data: src } = await test.use("browse_code", { path: "/src/" });
    assert.equal(src.path, "src/");
    assert.deepEqual([src.directories, names(src)], [["src/lib"], ["src/main.c"]]);
    const { data: all } = await test.use("browse_code", { path: "src", recursive: true });
    assert.deepEqual(names(all), ["src/lib/list.c", "src/main.c"]);
    assert.equal(all.files[0].last_commit_message, "Files");
    const { data: second } = await test.use("browse_code", {
      recursive: true,
      limit: 1,
      offset: 1,
    });
    assert.deepEqual([names(second), second.next], [["logo.png"], { offset: 2 }]);
    assert.match(await test.fail("browse_code", { path: "none" }), /browse_code/);
  });
});

Deno.test("read_file reads text by lines, and tells the size of a binary file", async () => {
  await withTools(async (test) => {
    const checkin = await commitFiles(test, FILES);
    const { data } = await test.use("read_file", { slug: "demo", filepath: "src/main.c" });
    assert.deepEqual(data, {
      filepath: "src/main.c",
      checkin,
      size: FILES["src/main.c"].length,
      total_lines: 3,
      start_line: 1,
      content: FILES["src/main.c"],
    });
    const part = { filepath: "src/main.c", start_line: 2, end_line: 2 };
    assert.equal((await test.use("read_file", part)).data.content, "  return 0;\n");
    const { data: logo } = await test.use("read_file", { filepath: "logo.png" });
    assert.deepEqual(logo, { filepath: "logo.png", checkin, size: 7, binary: true });
    assert.match(await test.fail("read_file", { filepath: "main.c" }), /there is src\/main\.c/);
    assert.match(await test.fail("read_file", {}), /"path"/);
  });
});

Deno.test("a long file is cut between lines, and next reads on to its end", async () => {
  const whole = Array.from({ length: 500 }, (_, line) => `line ${line} – "ünïcode" 🙂\n`).join("");
  await withTools(async (test) => {
    await commitFiles(test, { "long.txt": whole });
    let read = "";
    let next: object | undefined = {};
    for (let calls = 0; next !== undefined; calls++) {
      assert.ok(calls < 50);
      const input = { filepath: "long.txt", max_chars: 2000, ...next };
      const { text, data } = await test.use("read_file", input);
      assert.ok(text.length <= 2000);
      assert.ok(data.content.endsWith("\n"));
      read += data.content;
      next = data.next;
      if (next !== undefined) assert.match(data.more, /of 500; call again with \{"start_line":/);
    }
    assert.equal(read, whole);
  });
});

Deno.test("a line that is longer than max_chars is left out whole, and next has room for it", async () => {
  await withTools(async (test) => {
    const lines = ["x".repeat(5000), "short", "y".repeat(1_200_000), "last"];
    await commitFiles(test, { "app.min.js": `${lines.join("\n")}\n`, "a.txt": "one\n" });
    const input = { filepath: "app.min.js", max_chars: 2000 };
    const { data } = await test.use("read_file", input);
    assert.deepEqual([data.content, Object.keys(data.next)], ["", ["max_chars"]]);
    assert.match(
      data.more,
      /^Not shown: the remaining 4 lines; call again with \{"max_chars":\d+\}/,
    );
    const { data: first } = await test.use("read_file", { ...input, ...data.next });
    assert.equal(first.content, `${lines[0]}\n`);
    const { data: second } = await test.use("read_file", { ...input, ...first.next });
    assert.equal(second.content, "short\n");
    const next = { ...input, ...second.next };
    const { data: skipped } = await test.use("read_file", next);
    assert.deepEqual([skipped.content, skipped.next], ["", { start_line: 4 }]);
    assert.match(skipped.more, /2 lines, of which number 3 fits no answer; call again with/);
    const { data: last } = await test.use("read_file", { ...next, ...skipped.next });
    assert.deepEqual([last.content, last.more], ["last\n", undefined]);
    const past = await test.use("read_file", { filepath: "a.txt", start_line: 9 });
    assert.deepEqual([past.data.content, past.data.more], ["", undefined]);
  });
});

Deno.test("get_timeline and get_checkin say the same as the routes", async () => {
  await withTools(async (test) => {
    for (const name of ["a", "b", "c"]) await commitFiles(test, { [name]: name });
    const { data } = await test.use("get_timeline", { limit: 3 });
    const route = await test.answer("GET /api/timeline?per_page=3");
    assert.deepEqual([data.checkins, data.total], [route.checkins, 4]);
    assert.deepEqual(data.next, { offset: 3 });
    const { data: rest } = await test.use("get_timeline", { limit: 3, offset: 2 });
    const all = await test.answer("GET /api/timeline");
    assert.deepEqual(rest.checkins, all.checkins.slice(2));
    const { uuid } = data.checkins[0];
    const { data: one } = await test.use("get_checkin", { uuid: uuid.slice(0, 10) });
    const detail = await test.answer(`GET /api/checkin/${uuid}`);
    assert.deepEqual(one.files_changed, detail.files_changed);
    assert.equal(one.parent_uuid, detail.parents[0]);
    assert.match(await test.fail("get_checkin", { uuid: "ffffffffff" }), /get_timeline/);
    assert.match(await test.fail("get_timeline", { branch: "none" }), /get_branches/);
    const { data: { branches } } = await test.use("list_branches");
    assert.deepEqual(branches, (await test.answer("GET /api/branches")).branches);
  });
});
