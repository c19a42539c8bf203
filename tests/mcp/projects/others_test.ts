import assert from "node:assert/strict";
import { commitFiles } from "../../support/projects.ts";
import { withTools } from "./support.ts";

Deno.test("wiki pages are read and written with the version that was read", async () => {
  await withTools(async (test) => {
    const page = { page_name: "Notes/Plan", content: "# Plan\n\nOne\n" };
    const { data: made } = await test.use("write_wiki_page", page);
    const { data: read } = await test.use("get_wiki_page", { page_name: "Notes/Plan" });
    const route = await test.answer("GET /api/wiki/Notes%2FPlan");
    assert.deepEqual([read.content, read.uuid], [route.content, made.uuid]);
    const next = { ...page, content: "# Plan\n\nTwo\n", parent: made.uuid };
    const { data: second } = await test.use("write_wiki_page", next);
    const text = await test.fail("write_wiki_page", { ...next, content: "Three" });
    assert.match(
      text,
      new RegExp(`newest version is ${second.uuid.slice(0, 12)}\\. Read the page again`),
    );
    const { data: list } = await test.use("list_wiki_pages");
    assert.deepEqual(list.pages, (await test.answer("GET /api/wiki")).pages);
    const old = { page_name: "Notes/Plan", version: made.uuid, start_line: 3 };
    assert.equal((await test.use("get_wiki_page", old)).data.content, "One\n");
    assert.match(await test.fail("get_wiki_page", { page_name: "None" }), /list_wiki_pages/);
  });
});

Deno.test("search_code finds words in files, check-ins, tickets and pages", async () => {
  await withTools(async (test) => {
    await commitFiles(test, { "src/a.c": "a\nthe walrus\n", "src/b.c": "walrus\n" });
    await test.use("create_ticket", { title: "Feed the walrus", body: "" });
    await test.use("write_wiki_page", { page_name: "Walrus", content: "The walrus eats" });
    const { data } = await test.use("search_code", { query: "walrus" });
    assert.deepEqual(data.totals, { code: 2, checkins: 0, tickets: 1, wiki: 1 });
    const { code } = await test.answer("GET /api/search?q=walrus&kind=code");
    assert.deepEqual(
      data.code,
      code.map(({ highlights: _, ...match }: { highlights: unknown }) => match),
    );
    assert.equal(data.tickets[0].title, "Feed the walrus");
    const one = { query: "walrus", kind: "code", limit: 1 };
    const { data: first } = await test.use("search_code", one);
    assert.deepEqual([first.code.length, first.next], [1, { offset: 1 }]);
    const { kind: _kind, ...each } = one;
    const { data: all } = await test.use("search_code", each);
    assert.deepEqual(all.next, { kind: "code", offset: 1 });
    assert.match(
      all.more,
      /matches in code 1 to 1 of 2; call again with \{"kind":"code","offset":1\}/,
    );
    const { data: second } = await test.use("search_code", { ...one, ...first.next });
    assert.deepEqual(second.code, data.code.slice(1));
    assert.equal(second.next, undefined);
  });
});

Deno.test("history, blame and diff say the same as the routes", async () => {
  await withTools(async (test) => {
    const first = await commitFiles(test, { "a.txt": "one\ntwo\n", "b.txt": "b\n" });
    const second = await commitFiles(test, { "a.txt": "one\n2\n" });
    const { data: history } = await test.use("get_file_history", { filepath: "a.txt", limit: 1 });
    const route = await test.answer("GET /api/history?path=a.txt");
    assert.deepEqual(history.history, route.checkins.slice(0, 1));
    assert.deepEqual([history.total, history.next], [2, { offset: 1 }]);
    const { data: blame } = await test.use("get_file_blame", { filepath: "a.txt", start_line: 2 });
    assert.equal(blame.total, 2);
    assert.deepEqual(blame.lines.map(({ uuid, text }: Record<string, string>) => [uuid, text]), [
      [second, "2"],
    ]);
    const { data: diff } = await test.use("get_diff", { from: first, to: second });
    const { files } = await test.answer(`GET /api/diff?from=${first}&to=${second}`);
    assert.deepEqual([diff.files, diff.added, diff.deleted], [files, 1, 1]);
    assert.match(await test.fail("get_diff", { to: first, workspace: "w" }), /in place of/);
    assert.match(await test.fail("get_diff", { start_line: 2, from: first, to: "none" }), /none/);
  });
});

Deno.test("a long diff loses files, then lines, and both can be read on", async () => {
  await withTools(async (test) => {
    const lines = Array.from({ length: 400 }, (_, line) => `line ${line}\n`).join("");
    const to = await commitFiles(test, { "a.txt": lines, "b.txt": lines, "c.txt": "c\n" });
    const { files: whole } = await test.answer(`GET /api/diff?to=${to}`);
    const { data, text } = await test.use("get_diff", { to, max_chars: 4000 });
    assert.ok(text.length <= 4000);
    assert.equal(data.files.length, 1);
    assert.match(
      data.more,
      /^Shown: files 1 to 1 of 3, the last one with a part of its diff; call/,
    );
    const read = new Map<string, string>();
    let next: object | undefined = {};
    for (let calls = 0; next !== undefined; calls++) {
      assert.ok(calls < 20);
      const { data } = await test.use("get_diff", { to, max_chars: 4000, ...next });
      for (const { name, diff } of data.files) read.set(name, (read.get(name) ?? "") + diff);
      next = data.next === undefined ? undefined : { ...next, ...data.next };
    }
    assert.deepEqual(
      [...read],
      whole.map(({ name, diff }: { name: string; diff: string }) => [name, diff]),
    );
  });
});

Deno.test("tags and releases", async () => {
  await withTools(async (test) => {
    const uuid = await commitFiles(test, { "a.txt": "a" });
    assert.equal((await test.use("create_tag", { name: "good" })).data.uuid, uuid);
    const release = { tag_name: "v1", body: "First", checkin: "good" };
    assert.equal((await test.use("create_release", release)).data.checkin_uuid, uuid);
    assert.match(await test.fail("create_release", release), /get_releases/);
    const { data: { tags } } = await test.use("list_tags");
    assert.deepEqual(tags, (await test.answer("GET /api/tags")).tags);
    const { data: { releases } } = await test.use("list_releases");
    assert.deepEqual(releases, (await test.answer("GET /api/releases")).releases);
  });
});

Deno.test("workspaces are updated, merged, abandoned, restored and taken over", async () => {
  await withTools(async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    const { data: { uuid } } = await test.use("create_ticket", { title: "T", body: "" });
    await test.use("claim_ticket", { uuid }, test.other);
    await test.use("create_workspace", { name: "theirs", ticket: uuid }, test.other);
    await test.use("create_workspace", { name: "mine" });
    const edit = (workspace: string, content: string) => ({
      workspace,
      message: "Edit",
      changes: [{ path: "a.txt", content }],
    });
    await test.use("commit_files", edit("theirs", "theirs\n"), test.other);
    await test.use("commit_files", edit("mine", "mine\n"));
    const { data: list } = await test.use("list_workspaces");
    const route = await test.answer("GET /api/workspaces");
    assert.deepEqual(list.workspaces, route.workspaces);
    const { data: shown } = await test.use("get_workspace", { name: "mine" });
    assert.equal(shown.overlaps[0].workspace, "theirs");

    await commitFiles(test, { "a.txt": "trunk\n", "b.txt": "b\n" });
    const conflict = await test.fail("merge_workspace", { name: "mine" });
    assert.match(conflict, /Conflicts: a\.txt \(\w+\)\. Call update_workspace/);
    assert.match(await test.fail("update_workspace", { name: "mine" }), /Conflicts: a\.txt/);
    const changes = [{ path: "a.txt", content: "both\n" }];
    await test.use("update_workspace", { name: "mine", changes });
    const { data: merged } = await test.use("merge_workspace", { name: "mine" });
    assert.deepEqual([merged.status, merged.target_branch], ["merged", "trunk"]);
    assert.equal((await test.use("read_file", { filepath: "a.txt" })).data.content, "both\n");

    assert.match(await test.fail("abandon_workspace", { name: "theirs" }), /other|owner/);
    await test.use("release_ticket", { uuid }, test.other);
    await test.use("claim_ticket", { uuid });
    const { data: taken } = await test.use("take_over_workspace", { name: "theirs" });
    assert.equal(taken.agent_id, "caller");
    assert.equal(
      (await test.use("abandon_workspace", { name: "theirs" })).data.status,
      "abandoned",
    );
    assert.equal((await test.use("restore_workspace", { name: "theirs" })).data.status, "active");
  });
});

Deno.test("reviews: listed, closed, and those that wait for a reviewer", async () => {
  await withTools(async (test) => {
    await test.use("create_workspace", { name: "w" });
    const changes = [{ path: "a.txt", content: "a\n" }];
    await test.use("commit_files", { workspace: "w", message: "A", changes });
    const request = { title: "A file", workspace: "w", reviewers: ["other"] };
    const { data: made } = await test.use("create_review", request);
    assert.deepEqual([made.files_changed, made.reviewers], [1, ["other"]]);
    assert.match(
      await test.fail("create_review", request),
      new RegExp(`get_review with id ${made.id}`),
    );
    const waiting = await test.use("list_reviews", { waiting_for_me: true }, test.other);
    assert.deepEqual(waiting.data.reviews.map(({ id }: { id: number }) => id), [made.id]);
    assert.equal((await test.use("get_my_work", {}, test.other)).data.to_review[0].id, made.id);
    const { data: quiet } = await test.use("get_review", { id: made.id, diff: "none" });
    const route = await test.answer(`GET /api/reviews/${made.id}`);
    assert.deepEqual([quiet.verdicts, quiet.diff], [route.verdicts, undefined]);
    assert.match(await test.fail("land_review", { id: made.id }), /must be approved/);
    assert.equal((await test.use("close_review", { id: made.id })).data.status, "closed");
    assert.match(await test.fail("get_review", { id: 99 }), /list_reviews/);
  });
});

Deno.test("a name with half of a character is refused", async () => {
  await withTools(async (test) => {
    const calls = {
      get_wiki_page: { page_name: "a\ud800" },
      get_ticket: { uuid: "\udfff" },
      get_workspace: { name: "\ud800" },
      get_checkin: { uuid: "\ud800" },
    };
    for (const [tool, input] of Object.entries(calls)) {
      assert.match(await test.fail(tool, input), /has half of a character/);
    }
  });
});

Deno.test("a conflict shows its hunks, and edits decide them without whole files", async () => {
  await withTools(async (test) => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    const text = (changed: Readonly<Record<number, string>>) =>
      lines.map((line, index) => `${changed[index + 1] ?? line}\n`).join("");
    await commitFiles(test, { "a.txt": text({}) });
    const changeIn = async (workspace: string, changed: Readonly<Record<number, string>>) => {
      await test.use("create_workspace", { workspace });
      const changes = [
        { path: "a.txt", content: text(changed) },
        { path: "new.txt", content: `${workspace}\n` },
      ];
      await test.use("commit_files", { workspace, message: "Change", changes });
    };
    await changeIn("mine", { 3: "mine", 20: "mine too", 38: "kept" });
    await changeIn("first", { 3: "theirs", 10: "theirs alone", 20: "theirs too" });
    await test.use("merge_workspace", { workspace: "first" });
    const error = await test.fail("update_workspace", { workspace: "mine" });
    const hunks = error.split("\n").filter((line) => line.startsWith("{")).map((line) =>
      JSON.parse(line)
    );
    assert.deepEqual(hunks.map(({ hunk: _, ...shown }) => shown), [
      { path: "a.txt", before: "line 3\n", line: 3, ours: "mine\n", theirs: "theirs\n" },
      { path: "a.txt", before: "line 20\n", line: 20, ours: "mine too\n", theirs: "theirs too\n" },
      { path: "new.txt", before: "", line: 1, ours: "mine\n", theirs: "first\n" },
    ]);
    assert.ok(!error.includes("line 39"));
    const [one, two, added] = hunks.map(({ hunk }) => hunk);
    const some = await test.fail("update_workspace", {
      workspace: "mine",
      edits: [{ hunk: one, new_text: "both" }],
    });
    assert.match(some, /Conflicts: a\.txt \(content\), new\.txt/);
    assert.ok(!some.includes(one) && some.includes(two));
    await test.use("update_workspace", {
      workspace: "mine",
      edits: [
        { hunk: one, new_text: "both" },
        { hunk: two, new_text: "" },
        { hunk: added, new_string: "both\n" },
      ],
    });
    const read = async (path: string) =>
      (await test.use("get_file", { path, checkin: "workspace/mine" })).data.content;
    const whole = text({ 3: "both", 10: "theirs alone", 38: "kept" });
    assert.equal(await read("a.txt"), whole.replace("line 20\n", ""));
    assert.equal(await read("new.txt"), "both\n");
    assert.match(
      await test.fail("update_workspace", {
        workspace: "mine",
        edits: [{ hunk: "x", new_text: "" }],
      }),
      /id of a hunk|merged already/,
    );
  });
});
