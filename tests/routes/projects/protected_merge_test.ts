import assert from "node:assert/strict";
import type { TokenRequest } from "../../../services/people/identity/mod.ts";
import { projectToken, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("a merge needs the check on exactly its check-in, and only the scope admin overrides the rule", async () => {
  await withProject(async ({ api, send, answer, caller }) => {
    const [ci] = await projectToken(api, "status:write");
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts: ["ci/build"] }] });
    await api.services.hosting.projects.setMember("demo", "caller", "admin", BY_OPERATOR);
    const report = (checkin: string, state: string) =>
      answer("POST /api/status", { as: ci, body: { checkin, context: "ci/build", state } });
    const commit = async (name: string) => {
      await answer("POST /api/workspaces/create", { as: caller, body: { name } });
      const { uuid } = await answer(`POST /api/workspaces/${name}/commit`, {
        as: caller,
        body: { message: name, changes: [{ path: `${name}.txt`, content: name }] },
      });
      return uuid as string;
    };
    const merge = (name: string, as: string) =>
      send(`POST /api/workspaces/${name}/merge`, { as, body: {} });

    const one = await commit("one");
    // A green check of another check-in, and the newest of its context, is none of this one.
    await report((await answer("GET /api/timeline?branch=trunk")).checkins[0].uuid, "success");
    const refused = await merge("one", caller);
    assert.equal(refused.status, 403);
    assert.equal(
      (await refused.json()).error,
      "Required status check 'ci/build' has not passed: it waits for a runner or a project token with status:write",
    );
    await report(one, "failure");
    assert.equal((await merge("one", caller)).status, 403);
    await report(one, "success");
    assert.equal((await merge("one", caller)).status, 200);

    // The role admin with a token to write is no way around; with the scope admin it is.
    await commit("two");
    assert.equal((await merge("two", caller)).status, 403);
    const request: TokenRequest = {
      owner: "caller",
      name: "admin",
      scopes: ["admin"],
      project: null,
      expires_at: null,
    };
    const { token } = await api.services.tokens.create(request, BY_OPERATOR);
    assert.equal((await merge("two", `Bearer ${token}`)).status, 200);
  });
});
