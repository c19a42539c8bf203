/** The numbers of tickets. */
import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR, openServices } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";
import { statement } from "../../../services/engines/database/mod.ts";
import type { Project } from "../../../services/work/projects/mod.ts";

/** Files tickets one after the other; returns their ids. */
async function file({ answer }: TestProject, ...titles: readonly string[]): Promise<string[]> {
  const ids = [];
  for (const title of titles) {
    ids.push((await answer("POST /api/tickets", { body: { title } })).uuid);
  }
  return ids;
}

/** Files a ticket as another program does, without the server. */
async function fileOutside(
  { api }: TestProject,
  project: Project,
  title: string,
  date: string,
): Promise<string> {
  const fields = [{ name: "title", value: title, append: false }];
  const stamp = { user: "someone", date: Date.parse(date), mark: `outside ${title}` };
  const { uuid } = await api.services.hosting.repositories.files.use(
    project,
    (repository) => repository.saveTicket({ ...stamp, fields }),
  );
  return uuid;
}

/** The numbers of all tickets, by title. */
async function numbers({ answer }: TestProject): Promise<Record<string, number | null>> {
  const { tickets } = await answer("GET /api/tickets?per_page=100");
  return Object.fromEntries(
    tickets.map(({ title, number }: { title: string; number: number | null }) => [title, number]),
  );
}

Deno.test("tickets are numbered in order, and every answer has the number", () =>
  withProject(async (test) => {
    const { answer, caller } = test;
    const [one = "", two] = await file(test, "One", "Two");
    const made = await answer("POST /api/tickets", { as: caller, body: { title: "Three" } });
    assert.equal(made.number, 3);
    assert.deepEqual(await numbers(test), { Three: 3, Two: 2, One: 1 });
    const { tickets } = await answer("GET /api/tickets/unclaimed");
    assert.deepEqual(tickets.map(({ number }: { number: number }) => number), [3, 2, 1]);
    assert.equal((await answer(`GET /api/tickets/${one.slice(0, 8)}`)).number, 1);
    const changed = await answer("PATCH /api/tickets/2", { body: { title: "Second" } });
    assert.deepEqual([changed.number, changed.uuid], [2, two]);
  }));

Deno.test("a number stands wherever the id of a ticket may", () =>
  withProject(async (test) => {
    const { answer, send, caller } = test;
    const [one, two] = await file(test, "One", "Two");
    for (const name of ["2", "%232", `%23${two?.slice(0, 8)}`]) {
      assert.equal((await answer(`GET /api/tickets/${name}`)).uuid, two);
    }
    assert.equal((await answer("GET /api/tickets/2/changes")).ticket, two);
    await answer("POST /api/tickets/1/comments", { as: caller, body: { comment: "Seen" } });
    assert.equal((await answer("POST /api/tickets/1/claim", { as: caller })).ticket, one);
    await answer("POST /api/tickets/1/release", { as: caller });
    await answer("POST /api/tickets/1/claim", { as: caller });
    const workspace = { name: "work", ticket: "#1" };
    const made = await answer("POST /api/workspaces/create", { as: caller, body: workspace });
    assert.equal(made.ticket, one);
    await answer("POST /api/workspaces/work/commit", {
      as: caller,
      body: { message: "Begin", changes: [{ path: "a.txt", content: "a\n" }] },
    });
    const review = { title: "Review", workspace: "work", ticket_uuid: "1" };
    const opened = await answer("POST /api/reviews/create", { as: caller, body: review });
    assert.equal(opened.ticket_uuid, one);
    const submission = { summary: "Done", workspace: "work" };
    await answer("POST /api/tickets/1/submit", { as: caller, body: submission });
    const { tickets } = await answer("GET /api/tickets?search=%232");
    assert.deepEqual(tickets.map(({ uuid }: { uuid: string }) => uuid), [two]);
    for (const name of ["3", "%233", "0", "99999999999999999999"]) {
      assert.equal((await send(`GET /api/tickets/${name}`)).status, 404, name);
    }
  }));

Deno.test("tickets that other programs file get the next numbers", () =>
  withProject(async (test) => {
    const { answer, project, catchUp } = test;
    await file(test, "One");
    const outside = await fileOutside(test, project, "Outside", "2001-01-01");
    assert.equal((await numbers(test))["Outside"], null);
    await catchUp();
    await file(test, "Three");
    assert.deepEqual(await numbers(test), { Three: 3, One: 1, Outside: 2 });
    assert.equal((await answer("GET /api/tickets/2")).uuid, outside);
  }));

Deno.test("a repository that comes whole has numbers in the order in which its tickets were made", () =>
  withProject(async (test) => {
    const { api, project } = test;
    const { projects, repositories, tickets } = api.services.hosting;
    await fileOutside(test, project, "Second", "2002-02-02");
    await fileOutside(test, project, "First", "2001-01-01");
    const source = await repositories.export(project, "fossil");
    const request = { slug: "copy", name: "Copy", description: "", visibility: "private" } as const;
    const { project: copy } = await projects.create(request, BY_OPERATOR);
    const origin = { actor: "operator", actorId: null, address: null, cause: null };
    await repositories.import(copy, { format: "fossil", source }, { origin });
    const found = await Promise.all(
      ["1", "2", "3"].map((number) =>
        tickets.resolve(copy, number).then(({ title }) => title, () => null)
      ),
    );
    assert.deepEqual(found, ["First", "Second", null]);
    await fileOutside(test, copy, "Zeroth", "2000-01-01");
    await repositories.catchUp(copy);
    assert.equal((await tickets.resolve(copy, "3")).title, "Zeroth");
    assert.equal((await tickets.resolve(copy, "1")).title, "First");
  }));

Deno.test("a server whose tickets have no numbers yet gives them at its start", () =>
  withFolder(async (folder) => {
    const request = { slug: "demo", name: "Demo", description: "", visibility: "private" } as const;
    const actor = { kind: "operator", key: "operator", name: "operator" } as const;
    const writer = { caller: BY_OPERATOR, actor, generation: undefined };
    const made: string[] = [];
    {
      const services = await openServices(folder);
      try {
        const { projects, tickets } = services.hosting;
        const { project } = await projects.create(request, BY_OPERATOR);
        for (const title of ["One", "Two"]) {
          made.push((await tickets.create(project, { title, comment: "" }, writer)).uuid);
        }
        const { database } = services;
        const removal = statement(database.tables.deleteFrom("ticket_numbers"));
        await database.commit({ statements: [removal] });
      } finally {
        await services.close();
      }
    }
    const services = await openServices(folder);
    try {
      const { projects, repositories, tickets } = services.hosting;
      const { project } = projects.find("demo")!;
      await repositories.catchUp(project);
      const found = await Promise.all(["1", "2"].map((number) => tickets.resolve(project, number)));
      assert.deepEqual(found.map(({ uuid }) => uuid), made);
    } finally {
      await services.close();
    }
  }));

Deno.test("#12 in a text is a link to the ticket", () =>
  withProject(async (test) => {
    const { answer } = test;
    const [one, two] = await file(test, "One", "Two");
    const comment = { comment: "After #2, not #3 or x#1; `#1`", mimetype: "text/x-markdown" };
    await answer("POST /api/tickets/1/comments", { body: comment });
    const wiki = { comment: "See #1.", mimetype: "text/x-fossil-wiki" };
    await answer("POST /api/tickets/1/comments", { body: wiki });
    const { comments } = await answer("GET /api/tickets/1?html=true");
    const [markdown, fossil] = comments.map((said: { comment_html: string }) => said.comment_html);
    assert.match(
      markdown,
      new RegExp(`<a href="/projects/demo/tickets/${two}"[^>]*>#2</a>, not #3 or x#1`),
    );
    assert.match(fossil, new RegExp(`<a href="/projects/demo/tickets/${one}"[^>]*>#1</a>`));
  }));
