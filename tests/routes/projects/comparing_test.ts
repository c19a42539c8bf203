import assert from "node:assert/strict";
import { commitFiles, withProject } from "../../support/projects.ts";

Deno.test("branches tell how far they are ahead of and behind the main branch, if asked", async () => {
  await withProject(async (test) => {
    const { answer, caller, send } = test;
    await commitFiles(test, { "a.txt": "one\n" });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    for (const content of ["two\n", "three\n"]) {
      const changes = [{ path: "a.txt", content }];
      const body = { message: "A change", changes };
      await answer("POST /api/workspaces/fix/commit", { as: caller, body });
    }
    await commitFiles(test, { "b.txt": "b\n" });
    const { branches } = await answer("GET /api/branches?divergence=true");
    assert.deepEqual(
      branches.map((branch: Record<string, unknown>) => [
        branch["name"],
        branch["ahead"],
        branch["behind"],
        branch["is_merged"],
      ]),
      [["trunk", 0, 0, true], ["workspace/fix", 3, 1, false]],
    );
    const plain = await answer("GET /api/branches");
    assert.equal(plain.branches[0].ahead, undefined);
    assert.equal((await send("GET /api/branches?divergence=maybe")).status, 400);
  });
});

Deno.test("a comparison lists what one side alone has, and can leave out the other's changes", async () => {
  await withProject(async (test) => {
    const { answer, caller, send } = test;
    const common = await commitFiles(test, { "a.txt": "one\n" });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const changes = [{ path: "a.txt", content: "two\n" }];
    await answer("POST /api/workspaces/fix/commit", {
      as: caller,
      body: { message: "A change", changes },
    });
    await commitFiles(test, { "b.txt": "b\n" });
    const query = "from=trunk&to=workspace/fix";
    const compared = await answer(`GET /api/compare?${query}&per_page=1`);
    assert.deepEqual(
      [compared.common, compared.ahead, compared.behind, compared.total, compared.total_pages],
      [common, 2, 1, 2, 2],
    );
    assert.deepEqual(
      compared.checkins.map(({ comment }: Record<string, unknown>) => comment),
      ["A change"],
    );
    const names = async (query: string) => {
      const { files } = await answer(`GET /api/diff?${query}`);
      return files.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await names(query), ["a.txt", "b.txt"]);
    assert.deepEqual(await names(`${query}&common=true`), ["a.txt"]);
    assert.equal((await send("GET /api/compare")).status, 400);
    assert.equal((await send("GET /api/compare?to=nowhere")).status, 404);
  });
});

Deno.test("a diff can leave out changes of white space", async () => {
  await withProject(async (test) => {
    await commitFiles(test, { "a.txt": "if x\n  one\n  two\n", "b.txt": "b\n" });
    await commitFiles(test, { "a.txt": "if x\n    one\n    2\n", "b.txt": " b\n" });
    const shown = async (query: string) => {
      const { files } = await test.answer(`GET /api/diff?to=trunk${query}`);
      return files.map(({ name, added, deleted }: Record<string, unknown>) => [
        name,
        added,
        deleted,
      ]);
    };
    assert.deepEqual(await shown(""), [["a.txt", 2, 2], ["b.txt", 1, 1]]);
    assert.deepEqual(await shown("&whitespace=show"), [["a.txt", 2, 2], ["b.txt", 1, 1]]);
    assert.deepEqual(await shown("&whitespace=ignore"), [["a.txt", 1, 1], ["b.txt", 0, 0]]);
    assert.equal((await test.send("GET /api/diff?whitespace=some")).status, 400);
  });
});

Deno.test("contributors are listed with the number of their check-ins", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await commitFiles(test, { "a.txt": "one\n" });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const { contributors, months } = await answer("GET /api/contributors");
    const counts = Object.fromEntries(
      contributors.map((one: Record<string, unknown>) => [one["user"], one["checkin_count"]]),
    );
    assert.equal(counts["caller"], 1);
    assert.equal(months.length, 1);
    const total = contributors.reduce(
      (sum: number, one: Record<string, number>) => sum + (one["checkin_count"] ?? 0),
      0,
    );
    assert.equal(months[0].checkin_count, total);
  });
});

Deno.test("a check-in can leave out files that it changes", async () => {
  await withProject(async (test) => {
    const uuid = await commitFiles(test, { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
    const whole = await test.answer(`GET /api/checkin/${uuid}`);
    assert.equal(whole.files_changed.length, 3);
    const few = await test.answer(`GET /api/checkin/${uuid}?max_files=1`);
    assert.deepEqual(few, { ...whole, files_changed: whole.files_changed.slice(0, 1) });
    assert.equal((await test.send(`GET /api/checkin/${uuid}?max_files=x`)).status, 400);
  });
});
