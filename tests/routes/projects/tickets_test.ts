import assert from "node:assert/strict";
import { Repository } from "../../../services/engines/fossil/mod.ts";
import { withProject } from "../../support/projects.ts";

interface Ticket {
  readonly uuid: string;
  readonly title: string;
  readonly status: string;
}

const titles = ({ tickets }: { tickets: readonly Ticket[] }) => tickets.map(({ title }) => title);

Deno.test("a ticket is made, listed, read by a prefix, changed and commented on", async () => {
  await withProject(async ({ answer, send, caller, other, project, api }) => {
    const response = await send("POST /api/tickets", {
      as: caller,
      body: {
        title: "Crash",
        comment: "Send an empty line.\n\nThen wait.",
        type: "Code_Defect",
        severity: "Important",
        priority: "Critical",
        subsystem: "parser",
      },
    });
    assert.equal(response.status, 201);
    const made = await response.json();
    assert.match(made.uuid, /^[0-9a-f]{40}$/);
    const { title, status, type, severity, priority, subsystem, body, comments, claim } = made;
    assert.deepEqual(
      { title, status, type, severity, priority, subsystem, body, comments, claim },
      {
        title: "Crash",
        status: "Open",
        type: "Code_Defect",
        severity: "Important",
        priority: "Critical",
        subsystem: "parser",
        body: "Send an empty line.\n\nThen wait.",
        comments: [],
        claim: null,
      },
    );

    const path = `/api/tickets/${made.uuid.slice(0, 9).toUpperCase()}`;
    const said = await answer(`POST ${path}/comments`, {
      as: other,
      body: { comment: "Here too", mimetype: "text/x-markdown" },
    });
    assert.equal(said.ticket_uuid, made.uuid);
    await answer(`PATCH ${path}`, {
      as: other,
      body: { status: "Deferred", comment: "Later", fields: { foundin: "1.2" } },
    });
    const ticket = await answer(`GET ${path}`, { as: caller });
    assert.equal(ticket.body, "Send an empty line.\n\nThen wait.");
    assert.equal(ticket.status, "Deferred");
    assert.equal(ticket.fields.foundin, "1.2");
    assert.equal(ticket.comments[0].uuid, said.uuid);
    assert.equal(ticket.comments[0].timestamp, said.timestamp);
    assert.deepEqual(
      ticket.comments.map((
        { user, comment, mimetype }: Record<string, string>,
      ) => [user, comment, mimetype]),
      [["other", "Here too", "text/x-markdown"], ["other", "Later", "text/plain"]],
    );

    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.ticket"] });
    assert.deepEqual(
      events.map(({ actor, data }) => [actor, data["ticket"], data["status"]]),
      [
        ["agent:caller", made.uuid, "Open"],
        ["agent:other", made.uuid, "Open"],
        ["agent:other", made.uuid, "Deferred"],
      ],
    );
    assert.equal(events[0]?.data["project"], project.slug);
  });
});

Deno.test("a list of tickets is filtered before it is divided into pages", async () => {
  await withProject(async ({ answer, caller }) => {
    for (let number = 1; number <= 7; number++) {
      const status = number % 2 === 0 ? "Closed" : "Open";
      await answer("POST /api/tickets", { as: caller, body: { title: `T${number}`, status } });
    }
    const first = await answer("GET /api/tickets?per_page=3", { as: caller });
    assert.deepEqual(titles(first), ["T7", "T6", "T5"]);
    const { total, page, per_page, total_pages } = first;
    assert.deepEqual({ total, page, per_page, total_pages }, {
      total: 7,
      page: 1,
      per_page: 3,
      total_pages: 3,
    });
    const closed = await answer("GET /api/tickets?status=Closed&per_page=2&page=2");
    assert.deepEqual([titles(closed), closed.total, closed.total_pages], [["T2"], 3, 2]);
    assert.deepEqual((await answer("GET /api/tickets?page=9")).tickets, []);
    assert.equal((await answer("GET /api/tickets?status=open")).total, 0);

    const unclaimed = await answer("GET /api/tickets/unclaimed?limit=3");
    assert.deepEqual([titles(unclaimed), unclaimed.total], [["T7", "T5", "T3"], 4]);
    assert.equal((await answer("GET /api/tickets/unclaimed?status=")).total, 7);
    assert.equal((await answer("GET /api/tickets/unclaimed?status=Closed&limit=0")).total, 3);
  });
});

Deno.test("a list of tickets is searched, sorted and counted by status", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const bodies = [
      { title: "Alpha crash", priority: "Low", severity: "Critical", type: "Incident" },
      { title: "beta crash", priority: "Odd", status: "Closed" },
      { title: "Gamma slow", priority: "Immediate", subsystem: "irc" },
      { title: "Delta", priority: "", status: "Review" },
    ];
    const ids: string[] = [];
    for (const body of bodies) {
      ids.push((await answer("POST /api/tickets", { as: caller, body })).uuid);
    }
    const of = async (query: string) => titles(await answer(`GET /api/tickets?${query}`));
    assert.deepEqual(await of("search=CRASH"), ["beta crash", "Alpha crash"]);
    assert.deepEqual(await of("search=crash+alpha"), ["Alpha crash"]);
    assert.deepEqual(await of(`search=%23${ids[3]?.slice(0, 8)}`), ["Delta"]);
    assert.deepEqual(await of("state=closed"), ["beta crash"]);
    assert.deepEqual(await of("state=open&sort=title"), ["Alpha crash", "Delta", "Gamma slow"]);
    assert.deepEqual(await of("state=open&sort=title&reverse=true"), [
      "Gamma slow",
      "Delta",
      "Alpha crash",
    ]);
    const byPriority = ["Gamma slow", "Alpha crash", "Delta", "beta crash"];
    assert.deepEqual(await of("sort=priority"), byPriority);
    assert.equal((await of("sort=severity"))[0], "Alpha crash");
    assert.deepEqual(await of("type=Incident&severity=Critical"), ["Alpha crash"]);
    assert.deepEqual(await of("subsystem=irc&priority=Immediate"), ["Gamma slow"]);
    const changed = { as: caller, body: { resolution: "Fixed" } };
    await answer(`PATCH /api/tickets/${ids[0]}`, changed);
    assert.equal((await of("sort=modified"))[0], "Alpha crash");
    const { total, statuses } = await answer("GET /api/tickets?status=Review");
    assert.equal(total, 1);
    assert.deepEqual(statuses, [
      { name: "Open", count: 2, is_closed: false },
      { name: "Closed", count: 1, is_closed: true },
      { name: "Review", count: 1, is_closed: false },
    ]);
    assert.equal((await send("GET /api/tickets?sort=color")).status, 400);
    assert.equal((await send("GET /api/tickets?state=maybe")).status, 400);
  });
});

Deno.test("text that looks like a program's option stays text in every field of a ticket", async () => {
  await withProject(async ({ answer, caller }) => {
    for (const text of ["--quote", "-R /tmp/other.fossil", "'; DROP TABLE ticket; --", "\\n\\0"]) {
      const body = { title: text, comment: text, subsystem: text, fields: { foundin: text } };
      const { uuid } = await answer("POST /api/tickets", { as: caller, body });
      await answer(`POST /api/tickets/${uuid}/comments`, { as: caller, body: { comment: text } });
      const ticket = await answer(`GET /api/tickets/${uuid}`, { as: caller });
      assert.deepEqual(
        [ticket.title, ticket.body, ticket.subsystem, ticket.fields.foundin],
        [text, text, text, text],
      );
      assert.equal(ticket.comments[0].comment, text);
    }
    assert.equal((await answer("GET /api/tickets")).total, 4);
  });
});

Deno.test("a wrong type, a text too long or an unknown field of a ticket is refused by name", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "A" } });
    const path = `/api/tickets/${uuid}`;
    const refused: [request: string, body: unknown, message: RegExp][] = [
      ["POST /api/tickets", {}, /title/],
      ["POST /api/tickets", [], /object/i],
      ["POST /api/tickets", null, /object/i],
      ["POST /api/tickets", { title: null }, /title/],
      ["POST /api/tickets", { title: ["A"] }, /title/],
      ["POST /api/tickets", { title: "x".repeat(501) }, /title.*500/],
      ["POST /api/tickets", { title: "A", comment: "x".repeat(100_001) }, /comment.*100000/],
      ["POST /api/tickets", { title: "A", status: 5 }, /status/],
      ["POST /api/tickets", { title: "A", fields: { nothing: "x" } }, /no field "nothing"/],
      ["POST /api/tickets", { title: "A", fields: { tkt_id: "1" } }, /no field "tkt_id"/],
      ["POST /api/tickets", { title: "A", fields: { "a b": "1" } }, /fields/],
      ["POST /api/tickets", "{", /JSON/],
      [`PATCH ${path}`, {}, /must name at least one field/],
      [`PATCH ${path}`, { title: "" }, /title/],
      [`PATCH ${path}`, { status: null }, /status/],
      [`POST ${path}/comments`, { comment: "  " }, /comment/],
      ["POST /api/tickets", { title: "A", comment: "a\0lost" }, /comment.*NUL/],
      ["POST /api/tickets", { title: "A", fields: { foundin: "a\0lost" } }, /foundin.*NUL/],
      [`PATCH ${path}`, { body: "a\0lost" }, /body.*NUL/],
      [`POST ${path}/comments`, { comment: "a\0lost" }, /comment.*NUL/],
      [`POST ${path}/submit`, { summary: "a\0lost" }, /summary.*NUL/],
      [
        "POST /api/reviews/create",
        { title: "A", diff: "", description: "a\0" },
        /description.*NUL/,
      ],
      ["POST /api/workspaces/w/commit", { message: "a\0lost", changes: [] }, /message.*NUL/],
      [`POST ${path}/comments`, { comment: "A", mimetype: "text/html" }, /mimetype/],
      [`POST ${path}/comments`, { comment: "A", generation: "1" }, /generation/],
      [`POST ${path}/claim`, { agent_id: 7 }, /agent_id/],
      [`POST ${path}/claim`, { agent_id: "x".repeat(201) }, /agent_id/],
      [`POST ${path}/claim`, [], /object/i],
      [`POST ${path}/release`, { generation: 0 }, /generation/],
      [`POST ${path}/submit`, { files_changed: "a.txt" }, /files_changed/],
      [`POST ${path}/submit`, { summary: null }, /summary/],
    ];
    for (const [request, body, message] of refused) {
      const response = await send(request, { as: caller, body });
      const text = await response.text();
      assert.equal(response.status, 400, `${request} ${JSON.stringify(body)}: ${text}`);
      assert.match(JSON.parse(text).error, message);
    }
    assert.equal((await answer("GET /api/tickets")).total, 1);
  });
});

Deno.test("an unknown or malformed id of a ticket is 404, and an ambiguous prefix 400", async () => {
  await withProject(async ({ api, project, send, caller }) => {
    const { files } = api.services.hosting.repositories;
    await files.whileClosed(project, () => {
      using repository = Repository.open(files.pathOf(project));
      repository.write({ user: "ann", ip: null }, () => {
        for (const ticket of ["abcd1", "abcd2"]) {
          repository.add({
            kind: "ticket",
            date: Date.parse("2026-11-20T13:00:00Z"),
            fields: [{ name: "title", value: ticket, append: false }],
            ticket: ticket.padEnd(40, "0"),
            user: "ann",
          });
        }
      });
      return Promise.resolve();
    });
    for (const verb of ["GET", "PATCH"]) {
      const body = verb === "GET" ? {} : { body: { title: "B" } };
      const ambiguous = await send(`${verb} /api/tickets/ABCD`, { as: caller, ...body });
      assert.equal(ambiguous.status, 400);
      assert.match((await ambiguous.json()).error, /fits several tickets/);
    }
    assert.equal((await send("GET /api/tickets/abcd1", { as: caller })).status, 200);
    for (const id of ["nonexistent", "tkt-001-uuid", "abc", "ffff", "%25%25%25%25", "a_cd"]) {
      const response = await send(`GET /api/tickets/${id}`, { as: caller });
      assert.equal(response.status, 404, id);
      assert.deepEqual(await response.json(), { error: "Ticket not found" });
      const claim = await send(`POST /api/tickets/${id}/claim`, { as: caller, body: {} });
      assert.equal(claim.status, 404, id);
      assert.deepEqual(await claim.json(), { error: "Ticket not found in repository" });
    }
  });
});

Deno.test("only members with the right to write change tickets", async () => {
  await withProject(async ({ api, answer, send, caller, outsider }) => {
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "A" } });
    await api.answer("PATCH /v1/projects/demo", { visibility: "public" });
    assert.equal((await send(`GET /api/tickets/${uuid}`, { as: null })).status, 200);
    for (const [as, status] of [[null, 401], [outsider, 403]] as const) {
      for (
        const request of [
          "POST /api/tickets",
          `PATCH /api/tickets/${uuid}`,
          `POST /api/tickets/${uuid}/comments`,
          `POST /api/tickets/${uuid}/claim`,
          `POST /api/tickets/${uuid}/release`,
          `POST /api/tickets/${uuid}/submit`,
        ]
      ) {
        const body = { title: "B", comment: "B" };
        assert.equal((await send(request, { as, body })).status, status, request);
      }
    }
    const impostor = await send("POST /api/tickets", {
      as: caller,
      body: { title: "B", agent_id: "other" },
    });
    assert.equal(impostor.status, 403);
    const named = await answer("POST /api/tickets", { body: { title: "B", agent_id: "other" } });
    const changes = await answer(`GET /api/tickets/${named.uuid}`);
    assert.equal(changes.title, "B");
  });
});
