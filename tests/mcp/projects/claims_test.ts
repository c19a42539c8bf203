import assert from "node:assert/strict";
import { BY_OPERATOR } from "../../support/services.ts";
import { type ToolResult, withTools } from "./support.ts";

Deno.test("tickets: the tools say the same as the routes", async () => {
  await withTools(async (test) => {
    const { data: made } = await test.use("create_ticket", {
      title: "Crash",
      body: "On an empty line",
      severity: "Severe",
      subsystem: "parser",
    });
    const { uuid } = made;
    const route = await test.answer(`GET /api/tickets/${uuid}`);
    assert.deepEqual([route.body, route.priority], ["On an empty line", "Medium"]);
    for (const name of ["title", "status", "type", "severity", "subsystem", "created"]) {
      assert.equal(made[name], route[name], name);
    }
    const change = { uuid: uuid.slice(0, 8), status: "Review", comment: "I look at it" };
    const { data: changed } = await test.use("update_ticket", change);
    assert.deepEqual([changed.success, changed.status, changed.uuid], [true, "Review", uuid]);
    const { data: ticket } = await test.use("get_ticket", { uuid });
    const after = await test.answer(`GET /api/tickets/${uuid}`);
    assert.deepEqual(ticket.comments, after.comments);
    assert.deepEqual([ticket.body, ticket.claim], [after.body, null]);
    assert.deepEqual(
      (await test.use("list_tickets", { status: "Review" })).data.tickets,
      (await test.answer("GET /api/tickets?status=Review")).tickets,
    );
    assert.deepEqual((await test.use("list_tickets", { status: "Open" })).data.tickets, []);
    assert.match(await test.fail("update_ticket", { uuid }), /^No fields to update/);
    assert.match(await test.fail("get_ticket", { uuid: "ffff" }), /search_project/);
    const { data: short } = await test.use("create_ticket", { title: "No body" });
    assert.equal((await test.use("get_ticket", { uuid: short.uuid })).data.body, "");
    for (const title of ["", " ", "\u200d", "\u3164 "]) {
      assert.match(await test.fail("create_ticket", { title }), /"title" must/);
    }
  });
});

Deno.test("unclaimed tickets are read on to the last", async () => {
  await withTools(async (test) => {
    for (const title of ["one", "two", "three"]) {
      await test.use("create_ticket", { title, body: "" });
    }
    const read: string[] = [];
    let next: object | undefined = { unclaimed: true, limit: 2 };
    for (let calls = 0; next !== undefined; calls++) {
      assert.ok(calls < 3);
      const { data }: ToolResult = await test.use("list_tickets", next);
      read.push(...data.tickets.map(({ title }: { title: string }) => title));
      next = data.next === undefined ? undefined : { ...next, ...data.next };
    }
    assert.deepEqual(read, ["three", "two", "one"]);
    const { tickets } = await test.answer("GET /api/tickets/unclaimed?offset=2");
    assert.deepEqual(tickets.map(({ title }: { title: string }) => title), ["one"]);
  });
});

Deno.test("a claim that somebody else holds names the holder and the next free tickets", async () => {
  await withTools(async (test) => {
    const make = async (title: string) =>
      (await test.use("create_ticket", { title, body: "" })).data.uuid;
    const first = await make("One");
    const second = await make("Two");
    await test.use("claim_ticket", { uuid: first }, test.other);
    const refusal = await test.fail("claim_ticket", { uuid: first });
    assert.match(refusal, /^Ticket already claimed\. other holds the ticket until \d{4}-/);
    assert.match(
      refusal,
      new RegExp(`Next unclaimed: ${second.slice(0, 12)}\\. Do not work on this`),
    );
    assert.match(await test.fail("release_ticket", { uuid: second }), /get_my_work/);
    await test.use("claim_ticket", { uuid: second });
    const wrong = { uuid: second, generation: 7, comment: "x" };
    assert.match(await test.fail("update_ticket", wrong), /generation is 1, not 7/);
    const { data } = await test.use("release_ticket", { uuid: second, generation: 1 });
    assert.equal(data.status, "released");
  });
});

Deno.test("a long ticket keeps its comments whole, and says how to read the others", async () => {
  await withTools(async (test) => {
    const body = "A line of the description\n".repeat(100);
    const { data: { uuid } } = await test.use("create_ticket", { title: "Long", body });
    const comments = Array.from(
      { length: 12 },
      (_, index) => `Comment ${index} ${"x".repeat(200)}`,
    );
    for (const comment of comments) await test.use("update_ticket", { uuid, comment });
    const read: string[] = [];
    let next: object | undefined = { start_line: 99 };
    for (let calls = 0; next !== undefined; calls++) {
      assert.ok(calls < 20);
      const { text, data } = await test.use("get_ticket", { uuid, max_chars: 3000, ...next });
      assert.ok(text.length <= 3000, `${text.length}`);
      read.push(...data.comments.map(({ comment }: { comment: string }) => comment));
      next = data.next === undefined ? undefined : { start_line: 99, ...data.next };
    }
    assert.deepEqual(read, comments);
    const { data: whole } = await test.use("get_ticket", { uuid });
    assert.deepEqual([whole.body, whole.more], [body, undefined]);
  });
});

Deno.test("submit_work asks for reviewers, also when a review is open already", async () => {
  await withTools(async (test) => {
    const { data: { uuid } } = await test.use("create_ticket", { title: "One", body: "" });
    await test.use("claim_ticket", { uuid });
    const alone = await test.fail("submit_work", { uuid, summary: "Done", reviewers: ["other"] });
    assert.match(alone, /"reviewers" needs a workspace with changes to review/);
    await test.use("create_workspace", { name: "one", ticket: uuid });
    const changes = [{ path: "a.txt", content: "a\n" }];
    await test.use("commit_files", { workspace: "one", message: "Add a", changes });
    const work = { uuid, summary: "Done", workspace: "one" };
    const unknown = await test.fail("submit_work", { ...work, reviewers: ["nobody-1"] });
    assert.match(unknown, /There is no account "nobody-1"/);
    const own = await test.fail("submit_work", { ...work, reviewers: ["caller"] });
    assert.match(own, /"caller" wrote the change and cannot review it/);
    const { data: { review } } = await test.use("submit_work", { ...work, reviewers: ["OTHER"] });
    const waiting = async () => (await test.use("get_my_work", {}, test.other)).data.to_review;
    assert.deepEqual((await waiting()).map(({ id }: { id: number }) => id), [review]);

    const { data: second } = await test.use("create_ticket", { title: "Two", body: "" });
    await test.use("claim_ticket", { uuid: second.uuid });
    await test.use("create_workspace", { name: "two", ticket: second.uuid });
    await test.use("commit_files", { workspace: "two", message: "Add b", changes });
    const { data: early } = await test.use("create_review", { title: "Two", workspace: "two" });
    const later = { uuid: second.uuid, summary: "Done", workspace: "two", reviewers: ["other"] };
    assert.equal((await test.use("submit_work", later)).data.review, early.id);
    const { data } = await test.use("get_review", { id: early.id });
    assert.deepEqual(data.reviewers, ["other"]);
  });
});

Deno.test("workspaces and reviews are listed by agent, and reviews by all that are open", async () => {
  await withTools(async (test) => {
    for (const [name, as] of [["mine", test.caller], ["theirs", test.other]] as const) {
      await test.use("create_workspace", { name }, as);
      const changes = [{ path: `${name}.txt`, content: "a\n" }];
      await test.use("commit_files", { workspace: name, message: "Add", changes }, as);
      await test.use("create_review", { title: name, workspace: name }, as);
    }
    await test.use("approve_review", { id: 2 });
    await test.use("close_review", { id: 1 });
    const listed = async (tool: string, input: object) => {
      const { data } = await test.use(tool, input);
      const entries: { name?: string; title?: string }[] = data.workspaces ?? data.reviews;
      return [entries.map(({ name, title }) => name ?? title), data.total];
    };
    assert.deepEqual(await listed("list_workspaces", { agent: "OTHER" }), [["theirs"], 1]);
    assert.deepEqual(await listed("list_workspaces", { agent: "nobody-1" }), [[], 0]);
    assert.deepEqual(await listed("list_reviews", { agent: "caller" }), [["mine"], 1]);
    assert.deepEqual(await listed("list_reviews", { status: "open" }), [["theirs"], 1]);
    assert.deepEqual(await listed("list_reviews", { status: "open", agent: "caller" }), [[], 0]);
  });
});

Deno.test("get_my_work shows what is the caller's in all projects, or in one", async () => {
  await withTools(async (test) => {
    const { projects } = test.api.services.hosting;
    for (const slug of ["second", "third"]) {
      await projects.create(
        { slug, name: slug, description: "", visibility: "internal" },
        BY_OPERATOR,
      );
    }
    await projects.setMember("second", "caller", "write", BY_OPERATOR);
    for (const slug of ["demo", "second", "third"]) {
      for (const title of ["Held", "Free"]) {
        await test.use("create_ticket", { slug, title }, test.operator);
      }
    }
    for (const slug of ["demo", "second"]) {
      const { data } = await test.use("list_tickets", { slug });
      const { uuid: ticket } = data.tickets.find(({ title }: { title: string }) =>
        title === "Held"
      );
      await test.use("claim_ticket", { slug, uuid: ticket });
      await test.use("create_workspace", { slug, name: `in-${slug}`, ticket });
    }
    const named = (work: Record<string, { project: string }[]>, field: string) =>
      work[field]?.map(({ project }) => project).toSorted();
    const { data: all } = await test.use("get_my_work");
    assert.equal(all.you, "caller");
    for (const field of ["claims", "workspaces", "unclaimed"]) {
      assert.deepEqual(named(all, field), ["demo", "second"], field);
    }
    assert.equal(all.unclaimed[0].tickets, 1);
    const { data: one } = await test.use("get_my_work", { slug: "second" });
    assert.deepEqual([named(one, "claims"), one.workspaces[0].name], [["second"], "in-second"]);
    assert.match(await test.fail("get_my_work", { slug: "fourth" }), /list_projects/);
    const others = await test.use("get_my_work", {}, test.other);
    assert.deepEqual([others.data.claims, others.data.workspaces], [[], []]);
    const token = await test.token({ project: "second", scopes: ["read", "write"] });
    const { data: own } = await test.use("get_my_work", {}, token);
    assert.deepEqual([own.claims, named(own, "unclaimed")], [[], ["second"]]);
  });
});

Deno.test("start_work claims, makes the workspace and shows the ticket, and goes on the second time", async () => {
  await withTools(async (test) => {
    const { data: { uuid, number } } = await test.use("create_ticket", {
      title: "Crash",
      body: "On an empty line",
    });
    await test.use("update_ticket", { uuid, comment: "On Windows too" });
    const { data } = await test.use("start_work", { uuid });
    assert.deepEqual(
      [data.workspace, data.title, data.body, data.generation, data.total_comments],
      [`ticket-${number}`, "Crash", "On an empty line", 1, 1],
    );
    assert.match(data.comments[0].comment, /On Windows too/);
    const { claims } = await test.answer("GET /api/claims");
    assert.deepEqual(claims.map(({ workspace }: { workspace: string }) => workspace), [
      `ticket-${number}`,
    ]);
    const changes = [{ path: "a.txt", content: "a\n" }];
    await test.use("commit_files", { workspace: data.workspace, message: "Add a", changes });
    const again = (await test.use("start_work", { uuid: `#${number}` })).data;
    assert.deepEqual(
      [again.workspace, again.generation, again.commits_made],
      [data.workspace, 1, 1],
    );
    const many = await Promise.all([1, 2, 3].map(() => test.use("start_work", { uuid })));
    assert.deepEqual(new Set(many.map((one) => one.data.workspace)), new Set([data.workspace]));
  });
});

Deno.test("start_work at once, by one agent, makes one workspace", async () => {
  await withTools(async (test) => {
    const { data: { uuid } } = await test.use("create_ticket", { title: "One" });
    const all = await Promise.all([1, 2, 3, 4].map(() => test.use("start_work", { uuid })));
    assert.equal(new Set(all.map(({ data }) => data.workspace)).size, 1);
    const { total } = await test.answer("GET /api/workspaces?status=active");
    assert.equal(total, 1);
  });
});

Deno.test("start_work refuses what claim_ticket refuses, in the same words", async () => {
  await withTools(async (test) => {
    const make = async (title: string, more: object = {}) =>
      (await test.use("create_ticket", { title, ...more })).data.uuid;
    const first = await make("One");
    const waits = await make("Two", { blocked_by: [first] });
    await test.use("claim_ticket", { uuid: first }, test.other);
    for (const uuid of [first, waits, "ffff"]) {
      const said = await test.fail("start_work", { uuid });
      assert.equal(said, await test.fail("claim_ticket", { uuid }));
      assert.match(said, /already claimed|waits|blocked|not found/i);
    }
  });
});

Deno.test("start_work leaves no claim, and no strike, if it makes no workspace", async () => {
  await withTools(async (test) => {
    const { data: { uuid } } = await test.use("create_ticket", { title: "One" });
    await test.use("create_workspace", { name: "used" }, test.other);
    const faults = [
      [{ workspace: "used" }, /'used' already exists/],
      [{ workspace: "no name" }, /Invalid workspace name/],
      [{ from: "no-such-branch" }, /no-such-branch/],
    ] as const;
    for (const [input, error] of faults) {
      assert.match(await test.fail("start_work", { uuid, ...input }), error);
      const ticket = await test.answer(`GET /api/tickets/${uuid}`);
      assert.deepEqual([ticket.claim, ticket.strikes], [null, 0]);
    }
    await test.use("claim_ticket", { uuid });
    assert.match(await test.fail("start_work", { uuid, workspace: "used" }), /already exists/);
    assert.notEqual((await test.answer(`GET /api/tickets/${uuid}`)).claim, null);
  });
});

Deno.test("start_work names the workspaces that others left for the ticket", async () => {
  await withTools(async (test) => {
    const { data: { uuid, number } } = await test.use("create_ticket", { title: "One" });
    await test.use("start_work", { uuid }, test.other);
    await test.use("release_ticket", { uuid }, test.other);
    const { data } = await test.use("start_work", { uuid });
    assert.deepEqual(
      [data.workspace, data.others],
      [`ticket-${number}-2`, [{ name: `ticket-${number}`, agent_id: "other" }]],
    );
  });
});
