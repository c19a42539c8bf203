import assert from "node:assert/strict";
import { BY_OPERATOR } from "../support/services.ts";
import type { TestProject } from "../support/projects.ts";
import { type TestWeb, type Visitor, withWeb } from "../support/web.ts";
import { within } from "../support/until.ts";

/** A stream of the pages, read frame by frame. */
class LiveReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(response: Response) {
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.ok(response.body);
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next event's number and name; null at the end of the stream. */
  async next(): Promise<readonly [number, string] | null> {
    let end: number;
    while ((end = this.#rest.indexOf("\n\n")) < 0) {
      const { value, done } = await within(this.#reader.read(), () => "The next event");
      if (done) return null;
      this.#rest += value;
    }
    const [, id, name] = /^(?:id: (\d+)\n)?data: (\S+)$/.exec(this.#rest.slice(0, end)) ?? [];
    // What the reader has not read is no event of the log.
    const isOther = /^(?::|event: unread\n)/.test(this.#rest);
    this.#rest = this.#rest.slice(end + 2);
    return isOther ? await this.next() : [Number(id), name ?? ""];
  }

  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) names.push((await this.next())?.[1] ?? "the end");
    return names;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

function request(
  { api }: Pick<TestProject, "api">,
  path: string,
  visitor?: Visitor,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const cookie = visitor === undefined ? "" : `muster_session=${visitor.cookie("muster_session")}`;
  return api.handle(new Request(`http://muster.test${path}`, { headers: { ...headers, cookie } }));
}

async function open(web: TestWeb, path: string, visitor?: Visitor): Promise<LiveReader> {
  return new LiveReader(await request(web, path, visitor));
}

async function fileTicket({ answer, caller }: TestWeb, title: string): Promise<string> {
  return (await answer("POST /api/tickets", { as: caller, body: { title } })).uuid;
}

Deno.test("the stream of a project names its events, and resumes after the last one", async () => {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const reader = await open(web, "/live/projects/demo", web.person);
    const ticket = await fileTicket(web, "First");
    const [id, name] = await reader.next() ?? [0, ""];
    assert.equal(name, "ticket");
    await reader.cancel();
    await web.answer(`POST /api/tickets/${ticket}/claim`, { as: web.caller, body: {} });
    const headers = { "last-event-id": String(id) };
    const resumed = new LiveReader(
      await request(web, "/live/projects/demo?after=0", web.person, headers),
    );
    assert.deepEqual(await resumed.names(1), ["claim"]);
    await resumed.cancel();
    const again = await open(web, `/live/projects/demo?after=${id}`, web.person);
    assert.deepEqual(await again.names(1), ["claim"]);
    await again.cancel();
  });
});

Deno.test("the stream of a project ends with the right to read it, and with the session", async () => {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    assert.equal((await request(web, "/live/projects/demo", web.person)).status, 404);
    assert.equal((await request(web, "/live/projects/demo")).status, 404);
    assert.equal((await request(web, "/live/projects/nothing", web.admin)).status, 404);
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const wrong = await request(web, "/live/projects/demo?after=soon", web.person);
    assert.equal(wrong.status, 400);
    await wrong.body?.cancel();
    const beyond = await request(web, "/live/projects/demo?after=999999", web.person);
    assert.equal(beyond.status, 400);
    await beyond.body?.cancel();
    const first = await open(web, "/live/projects/demo", web.person);
    await projects.removeMember("demo", "ann", BY_OPERATOR);
    assert.equal(await first.next(), null);
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const second = await open(web, "/live/projects/demo", web.person);
    await web.person.post("/enter", { action: "leave" });
    assert.equal(await second.next(), null);
  });
});

Deno.test("a guest follows a public project, and not the server", async () => {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    await projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    const reader = await open(web, "/live/projects/demo");
    await fileTicket(web, "For all");
    assert.deepEqual(await reader.names(1), ["ticket"]);
    await reader.cancel();
    const home = await request(web, "/live/home");
    assert.equal(home.status, 401);
    await home.body?.cancel();
  });
});

Deno.test("an admin follows the server; a person, agents and the projects in reach", async () => {
  await withWeb(async (web) => {
    const { services } = web.api;
    const { projects } = services.hosting;
    await projects.create(
      { slug: "open", description: "", visibility: "public" },
      BY_OPERATOR,
    );
    const admin = await open(web, "/live/home", web.admin);
    const person = await open(web, "/live/home", web.person);
    await services.ircAccounts.create({ account: "eve", password: "long enough" }, BY_OPERATOR);
    await fileTicket(web, "Hidden from ann");
    await services.agents.speechControls.pause("caller", { reason: null }, BY_OPERATOR);
    await projects.change("open", { description: "Seen" }, BY_OPERATOR);
    assert.deepEqual(await admin.names(4), [
      "account.created",
      "project.ticket",
      "agent.paused",
      "project.changed",
    ]);
    assert.deepEqual(await person.names(2), ["agent.paused", "project.changed"]);
    // What only admins of a project may know does not reach its readers.
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    await projects.setMember("demo", "other", "read", BY_OPERATOR);
    await fileTicket(web, "Now in reach");
    assert.deepEqual(await person.names(1), ["project.ticket"]);
    await admin.cancel();
    await person.cancel();
  });
});

Deno.test("a person learns of the questions that it may answer, and of no others", async () => {
  await withWeb(async (web) => {
    const reader = await open(web, "/live/home", web.person);
    const headers = { authorization: web.caller };
    const request = "POST /v1/questions";
    for (const body of [{ text: "For admins?" }, { text: "For ann?", to: "ann" }]) {
      const response = await web.api.send({ who: "guest", request, headers, body });
      await response.body?.cancel();
    }
    await web.api.answer("POST /v1/questions/1/answer", { answer: "yes" });
    await web.api.answer("POST /v1/questions/2/answer", { answer: "no" });
    assert.deepEqual(await reader.names(2), ["question.asked", "question.answered"]);
    await reader.cancel();
  });
});

Deno.test("HEAD of a stream answers and holds nothing open", async () => {
  await withWeb(async (web) => {
    const cookie = `muster_session=${web.admin.cookie("muster_session")}`;
    const init = { method: "HEAD", headers: { cookie } };
    const answer = await web.api.handle(new Request("http://muster.test/live/home", init));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    assert.equal(await answer.text(), "");
  });
});

Deno.test("a live page says where its stream begins", async () => {
  await withWeb(async ({ admin, api }) => {
    const { html } = await admin.see("/");
    const [, live, after] = /data-live="([^"]+)" data-live-after="(\d+)"/.exec(html) ?? [];
    assert.equal(live, "/live/home");
    assert.ok(Number(after) <= api.services.eventLog.newest);
    for (const part of ["waiting", "agents", "landing", "checks", "happened"]) {
      assert.match(html, new RegExp(`data-live-part="${part}"`));
    }
  });
});

Deno.test("the stream of the server tells that agents came and went", async () => {
  await withWeb(async (web) => {
    const { clock, sessions } = web.api.services;
    const reader = await open(web, "/live/home", web.person);
    clock.advance(60_000);
    sessions.online.add("caller");
    clock.advance(15_000);
    assert.deepEqual(await reader.names(1), ["agent.presence"]);
    sessions.online.delete("caller");
    clock.advance(30_000);
    assert.deepEqual(await reader.names(1), ["agent.presence"]);
    await web.api.services.agents.speechControls.pause("caller", { reason: null }, BY_OPERATOR);
    assert.deepEqual(await reader.names(1), ["agent.paused"]);
    await reader.cancel();
  });
});
