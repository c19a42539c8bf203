import assert from "node:assert/strict";
import { BY_OPERATOR } from "../../support/services.ts";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";
import { THOROUGH } from "../../support/level.ts";

const DAY = 24 * 60 * 60 * 1000;

/** Begins an upload of one byte for the release `v1`. */
function begin({ send }: TestProject, name: string, as: string): Promise<Response> {
  return send("POST /api/releases/v1/assets", {
    as,
    headers: {
      "upload-length": "1",
      "upload-metadata": `filename ${btoa(name)}`,
      "tus-resumable": "1.0.0",
    },
  });
}

/** Files tickets; returns their ids. */
async function tickets({ answer, caller }: TestProject, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const body = { title: `Ticket ${index}` };
    ids.push((await answer("POST /api/tickets", { as: caller, body })).uuid);
  }
  return ids;
}

Deno.test("one member's unfinished uploads leave room for the others', until they expire", async () => {
  await withProject(async (test) => {
    const { caller, other, answer, api: { services: { clock } } } = test;
    await answer("POST /api/releases", { body: { tag_name: "v1" } });
    for (let index = 0; index < 20; index++) {
      assert.equal((await begin(test, `${index}.txt`, caller)).status, 201);
    }
    const refused = await begin(test, "more.txt", caller);
    assert.equal(refused.status, 429);
    assert.equal(
      (await refused.json()).error,
      "You have 20 unfinished uploads in this project; end one of them",
    );
    assert.equal((await begin(test, "another.txt", other)).status, 201);
    clock.advance(DAY);
    assert.equal((await begin(test, "more.txt", caller)).status, 201);
  });
});

Deno.test("several unfinished uploads of one member take half of the bytes at most", async () => {
  await withProject(async (test) => {
    const { caller, other, answer, send } = test;
    await answer("POST /api/releases", { body: { tag_name: "v1" } });
    const status = async (as: string, name: string, length: number) => {
      const headers = {
        "upload-length": `${length}`,
        "upload-metadata": `filename ${btoa(name)}`,
        "tus-resumable": "1.0.0",
      };
      return (await send("POST /api/releases/v1/assets", { as, headers })).status;
    };
    assert.equal(await status(caller, "a.bin", 6000), 201);
    assert.equal(await status(caller, "b.bin", 1), 429);
    assert.equal(await status(other, "c.bin", 4000), 201);
  }, { config: { limits: { upload_bytes: 10_000 } } });
});

Deno.test("an agent holds ten claims at most, and is told which", async () => {
  await withProject(async (test) => {
    const { caller, other, answer, send } = test;
    const ids = await tickets(test, 14);
    const claim = (id: string, as: string) => send(`POST /api/tickets/${id}/claim`, { as });
    const answers = await Promise.all(ids.map((id) => claim(id, caller)));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [...Array(10).fill(201), ...Array(4).fill(429)]);
    const free = ids.filter((_, index) => statuses[index] === 429);
    const refused = await claim(free[0]!, caller);
    assert.equal(refused.status, 429);
    const { error, claims } = await refused.json();
    assert.match(
      error,
      /^Your slot "claims" is full with demo\/[0-9a-f]{10}, .* \(limit 10\): submit/,
    );
    const { claims: held } = await answer("GET /api/claims", { as: caller });
    assert.deepEqual(
      claims,
      held.map(({ ticket, expires_at }: Record<string, string>) => {
        return { project: "demo", ticket, expires_at };
      }),
    );

    assert.equal((await claim(free[0]!, other)).status, 201);
    assert.equal((await claim(held[0].ticket, caller)).status, 200, "it renews its own");
    await answer(`POST /api/tickets/${held[0].ticket}/release`, { as: caller });
    assert.equal((await claim(free[1]!, caller)).status, 201);
    assert.equal((await claim(free[2]!, caller)).status, 429);
  });
});

Deno.test("claims in removed projects and expired ones do not count", async () => {
  await withProject(async (test) => {
    const { caller, answer, api: { services } } = test;
    const { projects } = services.hosting;
    const second = { slug: "second", name: "Second", description: "" };
    await projects.create({ ...second, visibility: "private" }, BY_OPERATOR);
    await projects.setMember("second", "caller", "write", BY_OPERATOR);
    const inSecond = async (request: string, body: unknown) => {
      const [method, path] = request.split(" ");
      const asked = `${method} /projects/second/fossil${path}`;
      const headers = { authorization: caller };
      return await test.api.send({ who: "guest", request: asked, headers, body });
    };
    const made = await (await inSecond("POST /api/tickets", { title: "Elsewhere" })).json();
    assert.equal((await inSecond(`POST /api/tickets/${made.uuid}/claim`, {})).status, 201);
    const [first, next] = await tickets(test, 2);
    const claim = (id: string) => test.send(`POST /api/tickets/${id}/claim`, { as: caller });
    assert.equal((await claim(first!)).status, 429);
    await projects.remove("second", BY_OPERATOR);
    assert.equal((await claim(first!)).status, 201);
    assert.equal((await claim(next!)).status, 429);
    services.clock.advance(DAY);
    assert.equal((await claim(next!)).status, 201);
    assert.equal((await answer("GET /api/claims")).total, 1);
  }, { config: { projects: { claims_per_agent: 1 } } });
});

Deno.test(
  "one member's open reviews, comments and checks leave room for the others'",
  THOROUGH,
  async () => {
    await withProject(async (test) => {
      const { caller, other, answer, send } = test;
      const review = (as: string) =>
        send("POST /api/reviews/create", { as, body: { title: "Diff", diff: "--- a\n+++ b\n" } });
      for (let index = 0; index < 100; index++) assert.equal((await review(caller)).status, 201);
      assert.equal((await review(caller)).status, 429);
      assert.equal((await review(other)).status, 201);
      await answer("POST /api/reviews/1/close", { as: caller });
      assert.equal((await review(caller)).status, 201);

      const comment = (as: string) =>
        send("POST /api/reviews/2/comment", { as, body: { body: "Again" } });
      for (let index = 0; index < 500; index++) assert.equal((await comment(caller)).status, 201);
      assert.equal((await comment(caller)).status, 409);
      assert.equal((await comment(other)).status, 201);

      const checkin = await commitFiles(test, { "a.txt": "a\n" });
      const check = (as: string, context: string) =>
        send("POST /api/status", { as, body: { checkin, context, state: "success" } });
      for (let index = 0; index < 200; index++) {
        assert.equal((await check(caller, `check ${index}`)).status, 201);
      }
      assert.equal((await check(caller, "one more")).status, 409);
      assert.equal((await check(other, "tests")).status, 201);
    });
  },
);
