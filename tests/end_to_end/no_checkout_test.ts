/** Hosting needs no other program and no checkout: a repository is its file and a search index. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call } from "../support/api.ts";
import { startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const BASE = "/projects/demo/fossil/api";

Deno.test("writes, diffs, blame and diagrams need no other program, and workspaces no checkout (W-28, W-31)", async () => {
  await withFolder(async (folder) => {
    const environment = { PATH: "/nowhere" };
    const commit = (path: string, content: string) => ({
      message: `Change ${path}`,
      changes: [{ path, content }],
    });
    {
      await using program = await startProgram({ folder, environment });
      const answer = async (method: string, path: string, body?: unknown) => {
        const response = await call(program, method, path, body);
        const text = await response.text();
        assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
        return JSON.parse(text);
      };
      await answer("POST", "/v1/projects", { slug: "demo" });
      await answer("POST", `${BASE}/workspaces/create`, { name: "work" });
      const { uuid } = await answer(
        "POST",
        `${BASE}/workspaces/work/commit`,
        commit("a.txt", "a\n"),
      );
      assert.match(JSON.stringify(await answer("GET", `${BASE}/diff?to=${uuid}`)), /a\.txt/);
      const blame = await answer("GET", `${BASE}/blame?path=a.txt&checkin=${uuid}`);
      assert.equal(blame.lines.length, 1);
      const content = '``` pikchr\nbox "Hello"\n```\n';
      await answer("PUT", `${BASE}/wiki/Home`, { content, mimetype: "text/x-markdown" });
      const { content_html: html } = await answer("GET", `${BASE}/wiki/Home`);
      assert.match(html, /<svg|<img/);
      await program.stop("SIGKILL");
    }
    const files = Array.from(Deno.readDirSync(join(folder, "data", "projects")), ({ name }) => name)
      .filter((name) =>
        !/^demo\.(?:fossil|index)(?:-wal|-shm)?$/.test(name) && !name.startsWith(".")
      );
    assert.deepEqual(files, []);

    await using program = await startProgram({ folder, environment });
    const merge = async (path: string, body: unknown = {}) => {
      const response = await call(program, "POST", `${BASE}/workspaces/work/${path}`, body);
      const answer = await response.json();
      assert.equal(response.status, 200, JSON.stringify(answer));
      return answer;
    };
    await merge("commit", commit("b.txt", "b\n"));
    assert.equal((await merge("merge")).status, "merged");
  });
});
