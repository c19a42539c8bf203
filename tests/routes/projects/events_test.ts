import assert from "node:assert/strict";
import type { TestApi } from "../../support/scenarios.ts";
import { EventReader } from "../../support/event_reader.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { THOROUGH } from "../../support/level.ts";

async function open(
  { send, caller }: TestProject,
  query = "",
  headers: Record<string, string> = {},
  as: string | null = caller,
): Promise<EventReader> {
  return new EventReader(await send(`GET /api/events${query}`, { as, headers }));
}

/** Writes events of a kind that only the log knows, one transaction each. */
async function note({ api: { services }, project }: TestProject, count: number, text = "") {
  const data = { project: project.slug, project_id: project.id, name: text, user: "ann", uuid: "" };
  const who = { actor: "agent:ann", actorId: null, address: null, cause: null };
  const time = services.clock.now();
  for (let index = 0; index < count; index++) {
    await services.database.commit({ events: [{ time, type: "project.technote", ...who, data }] });
  }
}

/** Counts the queries that read from the app database while something is done. */
async function queriesOf({ services }: TestApi, run: () => Promise<void>): Promise<number> {
  const executor = services.database.tables.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  let count = 0;
  executor.executeQuery = (...parameters) => {
    count++;
    return execute(...parameters);
  };
  await run();
  executor.executeQuery = execute;
  return count;
}

async function commitTo({ api, project, answer, caller }: TestProject, comment: string) {
  const { repositories } = api.services.hosting;
  const { checkins: [tip] } = await answer("GET /api/timeline", { as: caller });
  const changes = [{ kind: "write", path: "a.txt", content: new Uint8Array([97]) }] as const;
  return await repositories.write(project, {
    caller: BY_OPERATOR,
    user: "ann",
    write: (repository, stamp) =>
      repository.commit({ ...stamp, comment, changes, parent: tip.uuid }),
  });
}

Deno.test("an event is pushed with the fields of the contract and of the upstream service", async () => {
  await withProject(async (test) => {
    const stream = await open(test);
    await commitTo(test, "First\u2028line");
    const checkin = await stream.next();
    assert.equal(checkin?.event, "checkin");
    assert.match(String(checkin?.data["uuid"]), /^[0-9a-f]{40,64}$/);
    const { user, comment, branch, timestamp, project, actor } = checkin?.data ?? {};
    assert.deepEqual({ user, comment, branch, project, actor }, {
      user: "ann",
      comment: "First\u2028line",
      branch: "trunk",
      project: "demo",
      actor: "operator",
    });
    assert.match(String(timestamp), /^2026-11-20T12:00/);
    assert.equal("project_id" in (checkin?.data ?? {}), false);
    await stream.cancel();
  });
});

Deno.test("a claim's event has the names of the contract and of the upstream service", async () => {
  await withProject(async (test) => {
    const { services } = test.api;
    const stream = await open(test, "?types=claim,workspace");
    const data = { project: "demo", project_id: test.project.id };
    const who = { actor: "agent:caller", actorId: null, address: null, cause: null };
    await services.database.commit({
      events: [
        { type: "project.claim", data: { ...data, ticket: "ab12", agent: "caller" } },
        { type: "project.wiki", data: { ...data, name: "Home" } },
        { type: "project.workspace", data: { ...data, name: "w", agent: "caller" } },
      ].map((event) => ({ time: 0, ...who, ...event })),
    });
    const claim = await stream.next();
    const { ticket, ticket_uuid, agent, agent_id } = claim?.data ?? {};
    assert.deepEqual([ticket, ticket_uuid, agent, agent_id], ["ab12", "ab12", "caller", "caller"]);
    assert.equal((await stream.next())?.data["agent_id"], "caller");
    await stream.cancel();
  });
});

Deno.test("a stream resumes after any event, without gap or repeat", async () => {
  await withProject(async (test) => {
    const { eventLog } = test.api.services;
    const start = eventLog.newest;
    // More than memory holds of the newest events.
    await note(test, 1250);
    const live = await open(test);
    const writing = note(test, 100);
    const expected = Array.from(
      { length: 1350 },
      (_, index) => [start + index + 1, "technote"] as const,
    );
    let reader = await open(test, `?after=${start}`);
    const seen: (readonly [number, string])[] = [];
    while (seen.length < expected.length) {
      seen.push(...await reader.take(Math.min(211, expected.length - seen.length)));
      await reader.cancel();
      reader = await open(test, "?after=0", { "last-event-id": String(seen.at(-1)?.[0]) });
    }
    await writing;
    assert.deepEqual(seen, expected);
    assert.deepEqual(await live.take(100), expected.slice(1250));
    await Promise.all([reader.cancel(), live.cancel()]);
  });
});

Deno.test("a stream refuses impossible cursors and names", async () => {
  await withProject(async ({ send, caller, outsider }) => {
    for (const query of ["after=x", "after=99999", "types=", "types=a.b", "type=checkin"]) {
      const response = await send(`GET /api/events?${query}`, { as: caller });
      assert.equal(response.status, 400, query);
      await response.body?.cancel();
    }
    assert.equal((await send("GET /api/events", { as: outsider })).status, 404);
    assert.equal((await send("GET /api/events", { as: null })).status, 404);
    const head = await send("HEAD /api/events", { as: caller });
    assert.deepEqual([head.status, head.body], [200, null]);
  });
});

Deno.test("1,000 readers of a project cost at most one query per event", THOROUGH, async () => {
  await withProject(async (test) => {
    const count = 1000;
    const readers = await Promise.all(Array.from({ length: count }, () => open(test)));
    assert.equal(test.api.services.hosting.feeds.readers, count);
    const tell = async () => {
      await note(test, 1);
      await Promise.all(readers.map((reader) => reader.next()));
    };
    // Once this comes, nothing is read any more of what happened before.
    await tell();
    const queries = await queriesOf(test.api, async () => {
      for (let event = 0; event < 5; event++) await tell();
    });
    // Fewer where one query finds two events.
    assert.ok(queries <= 5, String(queries));
    // They come back together, and memory has what they missed.
    const last = test.api.services.eventLog.newest - 3;
    await Promise.all(readers.map((reader) => reader.cancel()));
    const again = await queriesOf(test.api, async () => {
      const resumed = await Promise.all(
        Array.from({ length: 100 }, () => open(test, `?after=${last}`)),
      );
      for (const reader of resumed) assert.equal((await reader.take(3)).length, 3);
      await Promise.all(resumed.map((reader) => reader.cancel()));
    });
    assert.equal(again, 0);
    assert.equal(test.api.services.hosting.feeds.readers, 0);
  });
});

Deno.test("a stream ends with the credential, the membership, the project and the server", async () => {
  const endings: Record<string, (test: TestProject) => Promise<unknown>> = {
    credential: ({ api }) => api.services.agents.revoke("caller", BY_OPERATOR),
    membership: ({ api }) =>
      api.services.hosting.projects.removeMember("demo", "caller", BY_OPERATOR),
    project: ({ api }) => api.services.hosting.projects.remove("demo", BY_OPERATOR),
    server: ({ api }) => Promise.resolve(api.services.hosting.feeds.close()),
  };
  for (const [what, end] of Object.entries(endings)) {
    await withProject(async (test) => {
      const stream = await open(test);
      const others = await open(test, "", {}, test.other);
      await end(test);
      let frame = await stream.next();
      if (what === "project") {
        assert.equal(frame?.event, "removed");
        frame = await stream.next();
      }
      assert.equal(frame, null, what);
      if (what === "membership") {
        await note(test, 1);
        assert.equal((await others.next())?.event, "technote");
      }
      await others.cancel();
    });
  }
});

Deno.test("when a project becomes private, the streams of non-members end", async () => {
  await withProject(async (test) => {
    const { projects } = test.api.services.hosting;
    await projects.change("demo", { visibility: "internal" }, BY_OPERATOR);
    const stream = await open(test, "", {}, test.outsider);
    await projects.change("demo", { visibility: "private" }, BY_OPERATOR);
    assert.equal((await stream.next())?.event, "changed");
    assert.equal(await stream.next(), null);
  });
});

Deno.test("readers get no events about members and webhooks", async () => {
  await withProject(async (test) => {
    const stream = await open(test);
    await test.api.services.hosting.projects.setMember("demo", "other", "read", BY_OPERATOR);
    await note(test, 1);
    assert.equal((await stream.next())?.event, "technote");
    await stream.cancel();
  });
});

Deno.test("a reader that falls 1,000 events or 1 MiB behind is closed", async () => {
  for (const [count, text] of [[1002, ""], [12, "x".repeat(100_000)]] as const) {
    await withProject(async (test) => {
      const { feeds } = test.api.services.hosting;
      const slow = await test.send("GET /api/events", { as: test.caller });
      await note(test, count, text);
      await test.api.services.eventLog.read({});
      assert.equal(feeds.readers, 0);
      await slow.body?.cancel();
    });
  }
});

Deno.test("a comment every 15 seconds keeps a stream open", async () => {
  await withProject(async (test) => {
    const stream = await open(test);
    test.api.services.clock.advance(15_000);
    assert.equal(await stream.text(), ": keep-alive\n\n");
    await stream.cancel();
  });
});
