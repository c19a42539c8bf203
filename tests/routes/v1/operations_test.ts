import assert from "node:assert/strict";
import { byEverybody, withApi } from "../../support/scenarios.ts";
import { until } from "../../support/until.ts";

Deno.test("/v1/log and /v1/pauses are the operator's and admins' alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/log", ["operator"], 200),
      ...byEverybody("PUT /v1/log", ["operator"], 400),
      ...byEverybody("DELETE /v1/pauses/none", ["operator"], 404),
      ...byEverybody("POST /v1/pauses", [], 403)
        .filter(({ who }) => who !== "operator" && who !== "admin"),
    ]);
  });
});

Deno.test("PUT /v1/log changes the level of the log, and its change is an event", async () => {
  await withApi(async (api) => {
    assert.deepEqual(await api.answer("GET /v1/log"), { level: "info" });
    const changed = { request: "PUT /v1/log", body: { level: "debug" }, status: 200 };
    await api.expect([changed, changed]);
    assert.deepEqual(await api.answer("GET /v1/log"), { level: "debug" });
    const answer = await api.answer("GET /v1/events?types=program.log_level_changed");
    const { events } = answer as { events: { data: unknown }[] };
    assert.deepEqual(events.map(({ data }) => data), [
      { level: "debug", previous: "info" },
    ]);
    await api.expect([{ request: "PUT /v1/log", body: { level: "loud" }, status: 400 }]);
  });
});

Deno.test("a pause ends once, by its caller or by itself, and there is one at a time", async () => {
  await withApi(async (api) => {
    const begin = async () => await (await api.send({ request: "POST /v1/pauses" })).json();
    const { id, seconds, busy } = await begin();
    assert.deepEqual([seconds, busy], [5, []]);
    await api.expect([
      { request: "POST /v1/pauses", status: 409 },
      { request: `DELETE /v1/pauses/${id}`, status: 204 },
      { request: `DELETE /v1/pauses/${id}`, status: 404 },
    ]);
    const second = await begin();
    assert.notEqual(second.id, id);
    api.services.clock.advance(5000);
    await api.expect([{ request: `DELETE /v1/pauses/${second.id}`, status: 404 }]);
  });
});

/** Examinations that end when the test says so. */
class Examinations {
  readonly killed: number[] = [];
  readonly #running: PromiseWithResolvers<string>[] = [];

  readonly start = () => {
    const number = this.#running.length;
    const running = Promise.withResolvers<string>();
    this.#running.push(running);
    return {
      output: running.promise,
      kill: () => {
        this.killed.push(number);
        running.resolve("");
      },
    };
  };

  get started(): number {
    return this.#running.length;
  }

  end(report: unknown): void {
    this.#running.at(-1)?.resolve(JSON.stringify(report));
  }
}

const STALE = { level: "warning", check: "leftovers", message: "Left: <b>", fix: "rm it" };

Deno.test("an examination runs once for all who ask meanwhile, and is remembered", async () => {
  const examinations = new Examinations();
  await withApi(async (api) => {
    await api.expect(byEverybody("GET /v1/doctor", ["operator"], 404));
    assert.equal(examinations.started, 0);
    const asked = [1, 2].map(() => api.answer("POST /v1/doctor"));
    await until(() => examinations.started > 0);
    examinations.end({ healthy: false, findings: Array(250).fill(STALE) });
    const [first, second] = await Promise.all(asked);
    assert.deepEqual(first, second);
    assert.deepEqual(await api.answer("GET /v1/doctor"), first);
    const { healthy, findings, more } = first as { findings: object[] } & Record<string, unknown>;
    assert.deepEqual([healthy, findings.length, findings[0], more], [false, 200, STALE, 50]);
    assert.equal(examinations.started, 1);
    const note = { ...STALE, level: "note" };
    const again = api.answer("POST /v1/doctor");
    await until(() => examinations.started > 1);
    examinations.end({ healthy: true, findings: [note] });
    assert.equal((await again as { healthy: boolean }).healthy, true);
  }, { startExamination: examinations.start });
});

Deno.test("an examination that fails or takes too long says what to do", async () => {
  await withApi(async (api) => {
    const matches = /does not examine itself/;
    await api.expect([{ request: "POST /v1/doctor", status: 503, matches }]);
  });
  const examinations = new Examinations();
  await withApi(async (api) => {
    const failed = api.send({ request: "POST /v1/doctor" });
    await until(() => examinations.started > 0);
    examinations.end("nonsense");
    assert.equal((await failed).status, 503);
    const late = api.send({ request: "POST /v1/doctor" });
    await until(() => examinations.started > 1);
    api.services.clock.advance(60_000);
    const { status, text } = await late.then(async (response) => ({
      status: response.status,
      text: await response.text(),
    }));
    assert.deepEqual([status, examinations.killed], [504, [1]]);
    assert.match(text, /more than 60 s: run .*muster doctor/);
    await api.expect([{ request: "GET /v1/doctor", status: 404 }]);
  }, { startExamination: examinations.start });
});
