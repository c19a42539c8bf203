import assert from "node:assert/strict";
import { BY_OPERATOR } from "../../support/services.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Makes a ticket and claims it; returns the ticket's id. */
async function claimed({ api }: TestProject, slug: string, as: string): Promise<string> {
  const base = `/projects/${slug}/fossil/api/tickets`;
  const send = async (path: string, body: unknown) => {
    const headers = { authorization: as };
    const response = await api.send({ who: "guest", request: `POST ${path}`, headers, body });
    assert.equal(response.status, 201);
    return await response.json();
  };
  const { uuid } = await send(base, { title: "Crash", comment: "" });
  await send(`${base}/${uuid}/claim`, {});
  return uuid;
}

Deno.test("an agent's claims are listed over all projects that the caller may read", async () => {
  await withProject(async (test) => {
    const { api, caller, other, outsider } = test;
    const { projects } = api.services.hosting;
    const second = { slug: "second", name: "", description: "", visibility: "private" as const };
    await projects.create({ ...second, name: "Second" }, BY_OPERATOR);
    await projects.setMember("second", "caller", "write", BY_OPERATOR);
    const list = async (path: string, as: string) => {
      const request = `GET /v1/agents/${path}`;
      const headers = { authorization: as };
      const response = await api.send({ who: "guest", request, headers });
      assert.equal(response.status, 200);
      const { claims, total } = await response.json();
      return {
        claims: claims.map((claim: Record<string, string>) => [claim["project"], claim["ticket"]]),
        total,
      };
    };
    assert.deepEqual(await list("caller/claims", caller), { claims: [], total: 0 });
    const one = ["demo", await claimed(test, "demo", caller)];
    const two = ["second", await claimed(test, "second", caller)];
    await claimed(test, "demo", other);

    assert.deepEqual(await list("CALLER/claims", caller), { claims: [one, two], total: 2 });
    assert.deepEqual(
      await list("caller/claims?page=2&per_page=1", caller),
      { claims: [two], total: 2 },
    );
    assert.deepEqual(await list("caller/claims", other), { claims: [one], total: 1 });
    assert.deepEqual(await list("caller/claims", outsider), { claims: [], total: 0 });

    await test.answer(`POST /api/tickets/${one[1]}/release`, { as: caller, body: {} });
    assert.deepEqual(await list("caller/claims", caller), { claims: [two], total: 1 });
  });
});
