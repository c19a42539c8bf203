/** Faults of the upstream service, none of which may return; each test names its row. */
import assert from "node:assert/strict";
import { Scratch } from "../../services/engines/fossil/support/fossil.ts";
import { judged } from "../../services/engines/fossil/support/judges.ts";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";
import { RequestCost } from "../../support/request_cost.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { THOROUGH } from "../../support/level.ts";

interface Named {
  readonly name: string;
}

/** Lets `caller` begin a workspace with one file; gives the check-in. */
async function aWorkspace(
  { answer, caller }: TestProject,
  name: string,
  path: string,
): Promise<string> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  const body = { message: name, changes: [{ path, content: `${name}\n` }] };
  return (await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body })).uuid;
}

Deno.test("a tree and a file are those of the check-in or the branch that is asked for (W-21)", async () => {
  await withProject(async (test) => {
    const { answer, send } = test;
    const first = await commitFiles(test, { "a.txt": "one\n" });
    const second = await commitFiles(test, { "a.txt": "two\n", "b.txt": "b\n" });
    const third = await aWorkspace(test, "side", "c.txt");
    const namesIn = async (checkin: string) => {
      const { entries } = await answer(`GET /api/tree?checkin=${encodeURIComponent(checkin)}`);
      return entries.map(({ name }: Named) => name);
    };
    const textIn = async (checkin: string, path: string) => {
      const query = `checkin=${encodeURIComponent(checkin)}&path=${path}`;
      const response = await send(`GET /api/file?${query}`);
      const text = await response.text();
      return response.status === 200 ? text : response.status;
    };
    const table: [checkin: string, names: string[], a: string, c: string | number][] = [
      [first, ["a.txt"], "one\n", 404],
      [second, ["a.txt", "b.txt"], "two\n", 404],
      ["trunk", ["a.txt", "b.txt"], "two\n", 404],
      [third, ["a.txt", "b.txt", "c.txt"], "two\n", "side\n"],
      ["workspace/side", ["a.txt", "b.txt", "c.txt"], "two\n", "side\n"],
      [first.slice(0, 12), ["a.txt"], "one\n", 404],
    ];
    for (const [checkin, names, a, c] of table) {
      assert.deepEqual(await namesIn(checkin), names, checkin);
      assert.equal(await textIn(checkin, "a.txt"), a, checkin);
      assert.equal(await textIn(checkin, "c.txt"), c, checkin);
    }
  });
});

Deno.test("a branch is closed and opened again, and is never a tag (W-22)", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    const tip = await aWorkspace(test, "side", "c.txt");
    await answer("POST /api/tags", { as: caller, body: { name: "green", checkin: tip } });
    const branch = "workspace/side";
    const statusOf = async (wanted: string) => {
      const { branches } = await answer("GET /api/branches");
      assert.equal(branches.length, 2);
      return branches.find(({ name }: Named) => name === wanted).status;
    };
    assert.equal(await statusOf(branch), "open");
    await answer("DELETE /api/workspaces/side/abandon", { as: caller });
    assert.equal(await statusOf(branch), "closed");
    assert.equal(await statusOf("trunk"), "open");
    await answer("POST /api/workspaces/side/restore", { as: caller });
    assert.equal(await statusOf(branch), "open");
    const { tags } = await answer("GET /api/tags");
    assert.deepEqual(tags.map(({ name, uuid }: Named & { uuid: string }) => [name, uuid]), [
      ["green", tip],
    ]);
    const { checkins: [newest] } = await answer(`GET /api/timeline?branch=${branch}`);
    assert.deepEqual([newest.uuid, newest.branch], [tip, branch]);
  });
});

judged("a check-in that fossil dates into the past has its event (W-13)", async (fossil) => {
  using scratch = new Scratch(fossil);
  await withProject(async (test) => {
    const { api: { services }, answer, project, catchUp } = test;
    await commitFiles(test, { "a.txt": "one\n" });
    const file = services.hosting.repositories.files.pathOf(project);
    scratch.fossil(["user", "new", "ann", "Ann", "secret", "-R", file]);
    const folder = scratch.path("checkout");
    Deno.mkdirSync(folder);
    scratch.fossil(["open", file, "trunk", "--user", "ann"], folder);
    const options = ["--allow-older", "--no-warnings", "--user-override", "ann", "--user", "ann"];
    for (const [index, date] of ["2001-01-02 03:04:05", "2000-01-01 00:00:00"].entries()) {
      // Another size, since fossil compares the time of the last change only in seconds.
      scratch.write("checkout/a.txt", "x".repeat(10 + index));
      scratch.fossil(["commit", "-m", date, "--date-override", date, ...options], folder);
    }
    await catchUp();
    await catchUp();
    const { events } = await services.eventLog.read({ after: 0, types: ["project.checkin"] });
    const told = events.filter(({ actor }) => actor === "fossil:ann");
    assert.deepEqual(told.map(({ data }) => [data["comment"], data["timestamp"]]), [
      ["2001-01-02 03:04:05", "2001-01-02T03:04:05.000Z"],
      ["2000-01-01 00:00:00", "2000-01-01T00:00:00.000Z"],
    ]);
    const { checkins } = await answer("GET /api/timeline");
    assert.ok(
      told.every(({ data }) =>
        checkins.some(({ uuid }: { uuid: string }) => uuid === data["uuid"])
      ),
    );
  });
});

Deno.test("spaces around agent_id change nothing (W-41)", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    const agent_id = "  caller ";
    const { uuid } = await answer("POST /api/tickets", { body: { title: "Work" } });
    const claim = await answer(`POST /api/tickets/${uuid}/claim`, {
      as: caller,
      body: { agent_id },
    });
    assert.equal(claim.agent_id, "caller");
    // The operator acts for the agent, and names it with spaces.
    for (const [name, as] of [["own", caller], ["for-it", undefined]] as const) {
      const who = as === undefined ? {} : { as };
      const made = await answer("POST /api/workspaces/create", {
        ...who,
        body: { name, agent_id },
      });
      assert.equal(made.agent_id, "caller");
      const change = { message: "Work", changes: [{ path: `${name}.txt`, content: "x" }] };
      for (const id of [agent_id, "caller"]) {
        const body = { ...change, message: `As "${id}"`, agent_id: id };
        body.changes = [{ path: `${name}.txt`, content: id }];
        await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
      }
      await answer(`POST /api/workspaces/${name}/merge`, { as: caller, body: { agent_id } });
    }
    await answer(`POST /api/tickets/${uuid}/release`, { as: caller, body: { agent_id } });
  });
});

Deno.test("who may not read a project can neither give nor take a star (W-47)", async () => {
  await withProject(async (test) => {
    const { api, answer, send, caller, outsider } = test;
    const status = async (request: string, as: string | null) => {
      const response = await send(request, { as });
      await response.body?.cancel();
      return response.status;
    };
    await answer("PUT /api/star", { as: caller });
    for (const method of ["PUT", "DELETE"]) {
      assert.equal(await status(`${method} /api/star`, outsider), 404);
      assert.equal(await status(`${method} /api/star`, null), 401);
    }
    assert.equal((await answer("GET /api/project")).star_count, 1);
    await api.answer("PATCH /v1/projects/demo", { visibility: "internal" });
    assert.equal(await status("PUT /api/star", outsider), 204);
    assert.equal((await answer("GET /api/project")).star_count, 2);
  });
});

Deno.test(
  "a list of any length costs the same few queries and reads (W-25)",
  THOROUGH,
  async () => {
    await withProject(async (test) => {
      const { api: { services }, answer, caller } = test;
      const cost = new RequestCost(services);
      const counted = (list: string) => cost.of(() => answer(`GET ${list}`, { as: caller }));
      const add = async (name: string) => {
        await aWorkspace(test, name, `${name}.txt`);
        const { uuid } = await answer("POST /api/tickets", { body: { title: name } });
        await answer(`POST /api/tickets/${uuid}/claim`, { as: caller });
        const body = { tag_name: name, body: `Notes of ${name}` };
        await answer("POST /api/releases", { as: caller, body });
        const upload = { as: caller, body: "content", headers: { "content-type": "text/plain" } };
        await answer(`PUT /api/releases/${name}/assets/a.txt`, upload);
        await answer(`PUT /api/wiki/${name}`, { as: caller, body: { content: name } });
      };
      const lists = [
        "/api/timeline?per_page=100",
        "/api/branches",
        "/api/tags",
        "/api/tickets?per_page=100",
        "/api/tickets/unclaimed",
        "/api/claims",
        "/api/workspaces?per_page=100",
        "/api/releases",
        "/api/wiki?per_page=100",
        "/api/landing",
      ];
      // The first reader of a new tip lets its changed files be found; they are kept from then on.
      const costs = async (content: string) => {
        for (const list of lists) await counted(list);
        await commitFiles(test, { "unrelated.txt": content });
        const entries: [list: string, cost: number][] = [];
        for (const list of lists) entries.push([list, await counted(list)]);
        return new Map(entries);
      };
      for (const name of ["first", "second"]) await add(name);
      const before = await costs("one");
      assert.ok(lists.every((list) => list === "/api/claims" || (before.get(list) ?? 0) > 0));
      for (let index = 0; index < 12; index++) await add(`more-${index}`);
      assert.deepEqual(await costs("two"), before);
    }, { config: { projects: { claims_per_agent: 20 } } });
  },
);

Deno.test("of concurrent workspaces of one name, one is made (W-30)", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const responses = await Promise.all(
      Array.from(
        { length: 16 },
        () => send("POST /api/workspaces/create", { as: caller, body: { name: "same" } }),
      ),
    );
    for (const response of responses) await response.body?.cancel();
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 15 }, () => 409)]);
    assert.equal((await answer("GET /api/branches")).branches.length, 2);
  });
});

Deno.test("each scope that may report a check does so, whatever the kind of token (W-36)", async () => {
  await withProject(async (test) => {
    const { api, send } = test;
    const checkin = await commitFiles(test, { "a.txt": "one\n" });
    const table: [owner: "caller" | null, scope: string, status: number][] = [
      ["caller", "write", 201],
      ["caller", "read", 403],
      [null, "status:write", 201],
      [null, "write", 201],
      [null, "admin", 201],
      [null, "read", 403],
    ];
    for (const [index, [owner, scope, status]] of table.entries()) {
      const whose = owner === null ? { project: "demo" } : { owner };
      const body = { ...whose, name: `t${index}`, scopes: [scope] };
      const { token } = await api.answer("POST /v1/tokens", body) as { token: string };
      const report = { checkin, context: `${owner} ${scope}`, state: "success" };
      const response = await send("POST /api/status", { as: `Bearer ${token}`, body: report });
      assert.equal(response.status, status, `${owner} ${scope}: ${await response.text()}`);
    }
  });
});

Deno.test("a request writes nothing to tell when its token was last used (W-39)", async () => {
  await withProject(async ({ api: { services: { database } }, answer, caller }) => {
    await answer("GET /api/project", { as: caller });
    let count = 0;
    const commit = database.commit.bind(database);
    database.commit = (...parameters) => {
      count++;
      return commit(...parameters);
    };
    for (let request = 0; request < 20; request++) await answer("GET /api/project", { as: caller });
    assert.ok(count <= 1, `${count} writes`);
  });
});

Deno.test("an admin of one project reaches no mirror of another (W-45)", async () => {
  await withProject(async ({ api, send, outsider }) => {
    const request = { slug: "second", name: "2", description: "", visibility: "private" } as const;
    const { projects } = api.services.hosting;
    await projects.create(request, BY_OPERATOR);
    await projects.setMember("second", "stranger-1", "admin", BY_OPERATOR);
    const remote = { git: { url: "https://git.example/demo.git" } };
    await api.answer("PUT /v1/projects/demo/mirror", remote);
    const refused = async (status: number) => {
      for (
        const [request, body] of [
          ["GET /api/mirror", undefined],
          ["PUT /api/mirror", remote],
          ["POST /api/mirror/run", {}],
          ["DELETE /api/mirror", undefined],
        ] as const
      ) {
        const response = await send(request, {
          as: outsider,
          ...(body === undefined ? {} : { body }),
        });
        await response.body?.cancel();
        assert.equal(response.status, status, request);
      }
    };
    await refused(404);
    await api.answer("PATCH /v1/projects/demo", { visibility: "public" });
    await refused(403);
  });
});

Deno.test("a list of projects opens no repository (W-49)", async () => {
  await withProject(async ({ api }) => {
    const { projects, repositories: { files } } = api.services.hosting;
    for (let index = 0; index < 5; index++) {
      const request = { slug: `p${index}`, description: "", visibility: "public" } as const;
      await projects.create(request, BY_OPERATOR);
    }
    let count = 0;
    const use = files.use.bind(files);
    files.use = (...parameters) => {
      count++;
      return use(...parameters);
    };
    const { projects: listed } = await api.answer("GET /projects") as { projects: unknown[] };
    assert.equal(listed.length, 6);
    assert.equal(count, 0);
  });
});
