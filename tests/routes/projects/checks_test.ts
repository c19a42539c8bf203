import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../support/projects.ts";

/** The id of the first check-in of the project. */
async function firstCheckin({ answer }: TestProject): Promise<string> {
  return (await answer("GET /api/timeline")).checkins[0].uuid;
}

Deno.test("a report of CI is created, replaced, and kept in the history", async () => {
  await withProject(async (test) => {
    const { send, answer, caller } = test;
    const checkin = await firstCheckin(test);
    const report = { checkin: checkin.slice(0, 8), context: " ci/build ", state: "pending" };
    const first = await send("POST /api/status", { as: caller, body: report });
    assert.equal(first.status, 201);
    const told = await first.json();
    assert.equal(told.created, true);
    assert.equal(told.checkin, checkin);
    assert.equal(told.context, "ci/build");
    assert.equal(told.reporter, "caller");

    const body = {
      ...report,
      state: "success",
      description: "All passed",
      target_url: "https://ci.example.com/7",
    };
    const second = await send("POST /api/status", { as: caller, body });
    assert.equal(second.status, 200);
    const changed = await second.json();
    assert.equal(changed.id, told.id);
    assert.equal(changed.created, false);
    assert.equal(changed.state, "success");
    const other = await answer("POST /api/status", { body: { ...body, context: "ci/lint" } });
    assert.equal(other.id, told.id + 1);

    const status = await answer(`GET /api/status?checkin=${checkin.slice(0, 4)}`, { as: caller });
    assert.equal(status.checkin, checkin);
    assert.equal(status.state, "passing");
    assert.deepEqual(
      status.checks.map(({ context, state, description, target_url }: Record<string, string>) => [
        context,
        state,
        description,
        target_url,
      ]),
      [
        ["ci/build", "success", "All passed", "https://ci.example.com/7"],
        ["ci/lint", "success", "All passed", "https://ci.example.com/7"],
      ],
    );
    const history = await answer(
      `GET /api/status/trunk/history?context=${encodeURIComponent("ci/build")}`,
    );
    assert.equal(history.total, 2);
    assert.deepEqual(
      history.reports.map(({ state }: { state: string }) => state),
      ["success", "pending"],
    );

    const { events } = await test.api.services.eventLog.read({
      after: 0,
      types: ["project.status"],
    });
    assert.deepEqual(
      events.map(({ actor, data }) => [actor, data["context"], data["state"], data["checkin"]]),
      [
        ["agent:caller", "ci/build", "pending", checkin],
        ["agent:caller", "ci/build", "success", checkin],
        ["operator", "ci/lint", "success", checkin],
      ],
    );
  });
});

Deno.test("of 64 concurrent reports of one check, one gets 201, and each context has its own number", async () => {
  await withProject(async (test) => {
    const { send, answer, caller } = test;
    const checkin = await firstCheckin(test);
    const report = (context: string) =>
      send("POST /api/status", { as: caller, body: { checkin, context, state: "success" } });
    const same = await Promise.all(Array.from({ length: 64 }, () => report("ci/build")));
    const statuses = same.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(63).fill(200), 201]);
    const others = await Promise.all(Array.from({ length: 32 }, (_, index) => report(`c${index}`)));
    assert.ok(others.every(({ status }) => status === 201));
    const { checks } = await answer(`GET /api/status?checkin=${checkin}`);
    const ids = new Set(checks.map(({ id }: { id: number }) => id));
    assert.equal(ids.size, 33);
    assert.equal((await answer(`GET /api/status/${checkin}/history`)).total, 96);
  });
});

Deno.test("a report of an unknown check-in is 404, and a malformed one 400 with the reason", async () => {
  await withProject(async (test) => {
    const { send, caller } = test;
    const checkin = await firstCheckin(test);
    for (const unknown of ["0000000000", "nothing", "trunk", "20261120", "ab"]) {
      const body = { checkin: unknown, context: "ci", state: "success" };
      assert.equal((await send("POST /api/status", { as: caller, body })).status, 404, unknown);
    }
    const good = { checkin, context: "ci", state: "success" };
    const table: [body: unknown, text: string][] = [
      [{ ...good, checkin: undefined }, "checkin is required"],
      [{ ...good, checkin: null }, "checkin is required"],
      [{ ...good, context: undefined }, "context is required"],
      [{ ...good, context: " " }, "context is required"],
      [{ ...good, context: "x".repeat(201) }, "context must be 200 characters or fewer"],
      [{ ...good, state: "done" }, "state must be one of: pending, success, failure, error"],
      [{ ...good, state: 7 }, "state must be one of: pending, success, failure, error"],
      [
        { ...good, description: "x".repeat(501) },
        "description must be 500 characters or fewer",
      ],
      [{ ...good, target_url: "javascript:alert(1)" }, "target_url must use http or https scheme"],
      [{ ...good, target_url: 7 }, "target_url must be a string"],
      [[good], "object"],
      [null, "object"],
    ];
    for (const [body, text] of table) {
      const response = await send("POST /api/status", { as: caller, body });
      assert.equal(response.status, 400, text);
      const { error } = await response.json();
      assert.ok(error.includes(text), `${error} · ${text}`);
    }
    const missing = await send("GET /api/status", { as: caller });
    assert.equal(missing.status, 400);
    assert.match((await missing.json()).error, /checkin parameter required/);
  });
});

Deno.test("the badge of a check-in tells its worst state", async () => {
  await withProject(async (test) => {
    const { send, answer, caller } = test;
    const checkin = await firstCheckin(test);
    const badge = async (name = checkin) => {
      const response = await send(`GET /api/status/${name}/badge.svg`, { as: caller });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "image/svg+xml");
      assert.equal(
        response.headers.get("cache-control"),
        "no-cache, no-store, must-revalidate",
      );
      const text = await response.text();
      return [/build: (\w+)/.exec(text)?.[1], /fill="(#[0-9a-f]{6})"/.exec(text)?.[1]];
    };
    const report = (context: string, state: string) =>
      answer("POST /api/status", { as: caller, body: { checkin, context, state } });
    assert.deepEqual(await badge(), ["unknown", "#9ca3af"]);
    assert.deepEqual(await badge("0000000000"), ["unknown", "#9ca3af"]);
    await report("one", "success");
    assert.deepEqual(await badge("trunk"), ["passing", "#22c55e"]);
    await report("two", "pending");
    assert.deepEqual(await badge(), ["pending", "#eab308"]);
    await report("three", "error");
    assert.deepEqual(await badge(), ["failing", "#ef4444"]);
  });
});

Deno.test("outsiders get 404 for the badge and the status of a private project", async () => {
  await withProject(async (test) => {
    const { send, api, outsider } = test;
    const checkin = await firstCheckin(test);
    const paths = [`/api/status/${checkin}/badge.svg`, `/api/status?checkin=${checkin}`];
    for (const path of paths) {
      for (const as of [null, outsider]) {
        const response = await send(`GET ${path}`, { as });
        const unknown = await api.send({
          who: "guest",
          request: `GET /projects/nothing/fossil${path}`,
          headers: as === null ? {} : { authorization: as },
        });
        assert.equal(response.status, 404);
        assert.equal(unknown.status, 404);
        assert.equal(
          (await response.text()).replaceAll("demo", "nothing"),
          await unknown.text(),
        );
      }
      assert.equal((await send(`GET ${path}`, { as: "Bearer nonsense" })).status, 401);
    }
    await api.answer("PATCH /v1/projects/demo", { visibility: "public" });
    for (const path of paths) {
      assert.equal((await send(`GET ${path}`, { as: null })).status, 200);
    }
  });
});
