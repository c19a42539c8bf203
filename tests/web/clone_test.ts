import assert from "node:assert/strict";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, withWeb } from "../support/web.ts";

Deno.test("the command that clones a public project has the name of those who may push", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    const { projects } = web.api.services.hosting;
    await projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    const lines: string[] = [];
    for (const role of ["read", "write"] as const) {
      await projects.setMember("demo", "ann", role, BY_OPERATOR);
      const { text } = await web.person.see("/projects/demo");
      lines.push(/git clone .*?(?= Contents)/.exec(text)?.[0] ?? "");
    }
    const [read = "", write = ""] = lines;
    assert.match(read, /git clone http:\/\/muster\.test\/projects\/demo\.git/);
    assert.match(write, /git clone http:\/\/ann@muster\.test\/projects\/demo\.git/);
    assert.match(read, /fossil clone http:\/\/muster\.test/);
    assert.doesNotMatch(read, /token/);
    assert.match(write, /fossil clone http:\/\/ann@muster\.test.* The password is a token\./);
    assert.match(write, /Make a token to clone and push/);
  });
});
