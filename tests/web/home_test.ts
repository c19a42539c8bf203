import assert from "node:assert/strict";
import { anAgent, BY_OPERATOR } from "../support/services.ts";
import { until } from "../support/until.ts";
import { type TestWeb, withWeb } from "../support/web.ts";

/** Makes `ann` a member who may write. */
async function letWrite({ api }: TestWeb): Promise<void> {
  await api.services.hosting.projects.setMember("demo", "ann", "write", BY_OPERATOR);
}

async function fileTicket({ answer, caller }: TestWeb, title: string): Promise<string> {
  return (await answer("POST /api/tickets", { as: caller, body: { title } })).uuid;
}

/** Opens a review of a workspace's change, for which reviewers are asked. */
async function askForReview(
  { answer, caller }: TestWeb,
  title: string,
  reviewers: readonly string[] = [],
): Promise<number> {
  const name = title.toLowerCase().replaceAll(/[^a-z]+/g, "-");
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  const changes = [{ path: `${name}.txt`, content: `${title}\n` }];
  const body = { message: title, changes };
  await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
  const review = { title, workspace: name, reviewers };
  return (await answer("POST /api/reviews/create", { as: caller, body: review })).id;
}

/** Claims and releases a ticket until it is struck out. */
async function strikeOut({ answer, caller }: TestWeb, ticket: string): Promise<void> {
  for (let strikes = 0; strikes < 3; strikes++) {
    await answer(`POST /api/tickets/${ticket}/claim`, { as: caller, body: {} });
    await answer(`POST /api/tickets/${ticket}/release`, { as: caller, body: {} });
  }
}

Deno.test("an empty server says that nothing waits, and what to do", async () => {
  await withWeb(async ({ person, admin }) => {
    const home = await person.see("/");
    assert.match(home.text, /Who needs me\?.*Nothing waits for you/);
    assert.match(home.text, /Nothing is queued.*No check of a branch failed/);
    assert.match((await admin.see("/")).text, /What happened all events/);
  });
});

Deno.test("without agents, admins are led to register one, and others told who does", async () => {
  await withWeb(async ({ person, admin, api: { services } }) => {
    for (const { nick } of services.agents.list()) await services.agents.delete(nick, BY_OPERATOR);
    assert.match(
      (await admin.see("/")).text,
      /There are no agents\. Register one to get the lines/,
    );
    assert.match(
      (await admin.see("/agents?register")).html,
      /id="register" data-dialog="open" open/,
    );
    assert.match((await admin.see("/agents")).html, /id="register" data-dialog=""/);
    const home = await person.see("/");
    assert.match(home.text, /There are no agents yet\. An admin registers them\./);
    assert.doesNotMatch(home.html, /agents\?register/);
  });
});

Deno.test("admins of a new server see its first steps, until it has a project and an agent", async () => {
  await withWeb(async ({ person, admin, api: { services } }) => {
    assert.doesNotMatch((await admin.see("/")).text, /First steps/);
    for (const { nick } of services.agents.list()) await services.agents.delete(nick, BY_OPERATOR);
    const home = await admin.see("/");
    assert.match(
      home.text,
      /First steps Make a project done .* Register an agent You get the lines/,
    );
    assert.match(home.html, /href="\/agents\?register"/);
    assert.match(home.html, /href="\/channels\/general"/);
    assert.doesNotMatch((await person.see("/")).text, /First steps/);
  });
});

Deno.test("reviews wait for those who were asked, or else for members who may write", async () => {
  await withWeb(async (web) => {
    const { person, addPerson } = web;
    await letWrite(web);
    const bob = await addPerson("bob");
    await web.api.services.hosting.projects.setMember("demo", "bob", "write", BY_OPERATOR);
    const asked = await askForReview(web, "For Bob", ["bob"]);
    const open = await askForReview(web, "For anybody");
    const ofAnn = await person.see("/");
    assert.match(ofAnn.text, /caller asks anybody/);
    assert.match(ofAnn.html, new RegExp(`href="/projects/demo/reviews/${open}"`));
    assert.doesNotMatch(ofAnn.text, /caller asks you/);
    const ofBob = await bob.see("/");
    assert.match(ofBob.text, /For Bob.*caller asks you/);
    assert.match(ofBob.html, new RegExp(`href="/projects/demo/reviews/${asked}"`));
    assert.match(ofBob.text, /caller asks anybody/);
    const approve = `POST /api/reviews/${asked}/approve`;
    await web.answer(approve, { body: { agent_id: "bob" } });
    assert.doesNotMatch((await bob.see("/")).text, /caller asks you/);
    const stranger = await addPerson("stranger");
    assert.match((await stranger.see("/")).text, /Nothing waits for you/);
  });
});

/** Asks a question as the agent `caller`. */
async function ask({ api, caller }: TestWeb, body: Readonly<Record<string, unknown>>) {
  const headers = { authorization: caller };
  const response = await api.send({ who: "guest", request: "POST /v1/questions", headers, body });
  assert.equal(response.status, 201, await response.clone().text());
  return await response.json();
}

Deno.test("questions are answered in place, by a button for each choice or in a field", async () => {
  await withWeb(async (web) => {
    const { person, admin, guest, addPerson } = web;
    const bob = await addPerson("bob");
    await ask(web, {
      text: "Land <b>it</b>\nnow?",
      choices: ["yes", "<i>no</i>"],
      default: "yes",
      deadline: 3600,
      to: "ann",
    });
    const home = await person.see("/");
    assert.match(home.text, /1 Question Land <b>it<\/b>\s+now\? Question 1: caller asks ann/);
    assert.match(home.html, /name="answer" value="&lt;i&gt;no&lt;\/i&gt;"/);
    for (const one of [bob, admin]) {
      assert.match((await one.see("/")).text, /Nothing waits for you/);
    }
    assert.match((await admin.see("/")).text, /Needs input 1 caller/);
    assert.match((await admin.see("/questions")).text, /caller asks ann/);
    assert.match((await bob.see("/questions")).text, /No question is open/);
    assert.equal((await bob.get("/questions/1")).status, 404);
    const unknown = await guest.get("/questions/1");
    assert.doesNotMatch(unknown.text, /Land/);
    const form = { action: "answer", answer: "<i>no</i>", from: "home" };
    assert.equal((await bob.post("/questions/1", form)).status, 404);
    assert.equal((await person.post("/questions/1", { ...form, csrf: "x" })).status, 403);
    assert.equal((await person.post("/questions/1", { ...form, answer: "what" })).status, 400);
    const after = await person.post("/questions/1", form);
    assert.match(after.text, /caller has your answer to question 1\..*Nothing waits for you/);
    assert.equal((await admin.post("/questions/1", { ...form, answer: "yes" })).status, 409);
    const closed = await person.see("/questions?state=closed");
    assert.match(closed.text, /ann answered .*<i>no<\/i>/);

    await ask(web, { text: "What color?" });
    assert.match((await admin.see("/")).html, /<input id="answer-2"/);
    for (const answer of ["", " \n", "x".repeat(2001), "\u202eeulb"]) {
      const refused = await admin.post("/questions/2", { action: "answer", answer });
      assert.equal(refused.status, 400, JSON.stringify(answer.slice(0, 9)));
    }
    await admin.post("/questions/2", { action: "answer", answer: "blue\r\nor so" });
    assert.match((await admin.see("/questions/2")).text, /admin answered .*blue or so/);
    await ask(web, { text: "Never mind?" });
    assert.equal((await person.post("/questions/3", { action: "withdraw" })).status, 404);
    await admin.post("/questions/3", { action: "withdraw" });
    assert.match((await admin.see("/questions/3")).text, /admin withdrew it/);
    assert.match((await admin.see("/")).text, /caller asked question 3/);
    for (const path of ["/questions/x", "/questions/0", "/questions/99999999999"]) {
      assert.equal((await admin.get(path)).status, 404, path);
    }
  });
});

Deno.test("a struck-out ticket is offered again in place, by those who may write", async () => {
  await withWeb(async (web) => {
    const { person, answer } = web;
    const ticket = await fileTicket(web, "Parse <b>dates</b>");
    await strikeOut(web, ticket);
    const form = { action: "offer", slug: "demo", ticket };
    assert.equal((await person.post("/", form)).status, 404);
    await letWrite(web);
    const home = await person.see("/");
    assert.match(home.text, /Stuck Parse <b>dates<\/b>.*3 claims ended without a result/);
    assert.equal((await person.post("/", { ...form, csrf: "x" })).status, 403);
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).strikes, 3);
    assert.match((await person.post("/", form)).text, /Agents may claim the ticket again/);
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).strikes, 0);
    assert.match((await person.see("/")).text, /Nothing waits for you/);
  });
});

Deno.test("a claim of a silent agent is ended in place, by admins of the project", async () => {
  await withWeb(async (web) => {
    const { person, answer, api: { services } } = web;
    const { projects } = services.hosting;
    const ticket = await fileTicket(web, "Draw the map");
    await answer(`POST /api/tickets/${ticket}/claim`, { as: web.caller, body: {} });
    await letWrite(web);
    assert.match((await person.see("/")).text, /Working 1 caller holds Draw the map/);
    assert.match((await person.see("/")).text, /Nothing waits for you/);
    services.clock.advance(20 * 60_000);
    const home = await person.see("/");
    assert.match(home.text, /Silent Draw the map demo · caller holds it and was last seen/);
    assert.match(home.text, /Away \d+ .*Draw the map/);
    assert.doesNotMatch(home.text, /End the claim/);
    const form = { action: "release", slug: "demo", ticket };
    const refused = await person.post("/", form);
    assert.equal(refused.status, 403);
    await projects.setMember("demo", "ann", "admin", BY_OPERATOR);
    assert.match((await person.see("/")).text, /End the claim/);
    assert.match((await person.post("/", form)).text, /The claim has ended/);
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).claim, null);
  });
});

Deno.test("landings that conflict wait until the review has a new round", async () => {
  await withWeb(async (web) => {
    const { answer, person, caller } = web;
    await letWrite(web);
    const numbers: number[] = [];
    for (const name of ["one", "two"]) {
      await answer("POST /api/workspaces/create", { as: caller, body: { name } });
      const changes = [{ path: "same.txt", content: `${name}\n` }];
      const body = { message: name, changes };
      await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
      const review = { title: `Write ${name}`, workspace: name };
      numbers.push((await answer("POST /api/reviews/create", { as: caller, body: review })).id);
    }
    let isReturned = false;
    const { feeds } = web.api.services.hosting;
    const feed = feeds.follow(web.project.id, { names: ["landing"] }, {
      message: ({ data }) => isReturned ||= data["status"] === "returned",
      gap: () => {},
      end: () => {},
      mayRead: () => true,
    });
    for (const number of numbers) {
      await answer(`POST /api/reviews/${number}/approve`, { as: web.other });
      await answer(`POST /api/reviews/${number}/land`, { as: caller });
    }
    await until(() => isReturned);
    feed.close();
    const home = await person.see("/");
    assert.match(home.text, /Conflict Write two .*conflicts with trunk: same\.txt/);
    const queue = await person.see("/projects/demo/landing");
    assert.match(queue.text, /same\.txt both sides added this file/);
    assert.match(home.text, /returned from the landing queue: Write two/);
  });
});

Deno.test("failed checks and landings of projects in reach are listed", async () => {
  await withWeb(async (web) => {
    const { answer, person, addPerson } = web;
    const bob = await addPerson("bob");
    await letWrite(web);
    const number = await askForReview(web, "Check it");
    const { tip } = (await answer("GET /api/workspaces/check-it")).workspace ??
      await answer("GET /api/workspaces/check-it");
    const body = { checkin: tip, context: "tests", state: "failure", description: "2 failed" };
    await answer("POST /api/status", { as: web.caller, body });
    assert.match((await person.see("/")).text, /Failing checks tests [0-9a-f]{10} demo · 2 failed/);
    assert.match((await bob.see("/")).text, /No check of a branch failed/);
    await answer("POST /api/status", { as: web.caller, body: { ...body, state: "success" } });
    assert.match((await person.see("/")).text, /No check of a branch failed/);
    assert.equal(number, 1);
  });
});

Deno.test("a failed check is no longer listed once its branch has a newer check-in", async () => {
  await withWeb(async (web) => {
    const { answer, person } = web;
    await letWrite(web);
    await askForReview(web, "Check it");
    const at = "/api/workspaces/check-it";
    const { tip } = (await answer(`GET ${at}`)).workspace ?? await answer(`GET ${at}`);
    const body = { checkin: tip, context: "tests", state: "failure" };
    await answer("POST /api/status", { as: web.caller, body });
    assert.match((await person.see("/")).text, /Failing checks tests/);
    const changes = [{ path: "fixed.txt", content: "fixed" }];
    await answer(`POST ${at}/commit`, { as: web.caller, body: { message: "Fix it", changes } });
    assert.match((await person.see("/")).text, /No check of a branch failed/);
  });
});

Deno.test("a link to a project without a role leads an admin to its members", async () => {
  await withWeb(async ({ admin, person }) => {
    for (const path of ["/projects/demo", "/projects/demo/tickets"]) {
      const closed = await admin.get(path);
      assert.equal(closed.status, 404);
      assert.match(closed.text, /You are not a member of demo/);
      assert.match(closed.html, /href="\/projects\/demo\/settings\/members"/);
      assert.doesNotMatch((await person.get(path)).text, /member/);
    }
    assert.match((await admin.get("/projects/none")).text, /There is nothing here/);
  });
});

Deno.test("agents stand by state, and those who only read cannot act", async () => {
  await withWeb(async (web) => {
    const { api: { services }, admin, person } = web;
    await anAgent(services, "zed-1");
    services.sessions.online.add("zed-1");
    await services.agents.speechControls.pause("zed-1", { reason: "tea" }, BY_OPERATOR);
    await askForReview(web, "Wait for me", []);
    const home = await admin.see("/");
    assert.match(home.text, /Needs input 1 caller/);
    assert.match(home.text, /Idle 1 zed-1 paused is here/);
    assert.match(home.text, /operator paused zed-1/);
    // Nothing stands where no agent is.
    assert.doesNotMatch(home.text, /(Working|Offline|Halted) 0/);
    assert.match((await person.see("/")).text, /operator paused zed-1/);
    assert.doesNotMatch((await person.see("/")).text, /Wait for me/);
  });
});

Deno.test("home tells what concerns people, and each thing once", async () => {
  await withWeb(async (web) => {
    await letWrite(web);
    const { api: { services }, admin, person, answer, caller } = web;
    await services.hosting.projects.change("demo", { description: "Other words" }, BY_OPERATOR);
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    for (const visitor of [admin, person]) {
      const { text } = await visitor.see("/");
      const [, happened = ""] = text.split("What happened");
      assert.doesNotMatch(happened, /changed the settings|logged in|Create new branch/);
    }
    assert.match((await person.see("/")).text, /created the workspace fix in demo/);
    const { text } = await admin.see("/events");
    assert.match(text, /changed the settings/);
    assert.match(text, /Create new branch named "workspace\/fix"/);
  });
});

Deno.test("fields suggest names: agents to everybody, people and projects to admins", async () => {
  await withWeb(async (web) => {
    await anAgent(web.api.services, "zed-1");
    const suggested = ({ html }: { html: string }, id: string) => {
      const [, list = ""] = new RegExp(`<datalist id="${id}-names">(.*?)</datalist>`).exec(html) ??
        [];
      return Array.from(list.matchAll(/value="([^"]*)"/g), ([, name]) => name);
    };
    const agents = web.api.services.accounts.names("agent");
    const everybody = [...agents, "admin", "ann"].sort();
    const tokens = await web.admin.see("/settings/tokens");
    assert.ok(agents.includes("zed-1"));
    assert.deepEqual(suggested(tokens, "owner"), everybody);
    assert.deepEqual(suggested(tokens, "project"), ["demo"]);
    const halt = await web.admin.see("/halt");
    assert.deepEqual(suggested(halt, "agent"), agents);
    const members = await web.admin.see("/projects/demo/settings/members");
    assert.deepEqual(suggested(members, "name"), everybody);
    await web.api.services.hosting.projects.setMember("demo", "ann", "admin", BY_OPERATOR);
    const reviews = await askForReview(web, "Look");
    const review = await web.person.see(`/projects/demo/reviews/${reviews}`);
    assert.deepEqual(suggested(review, "reviewers"), agents);
  });
});
