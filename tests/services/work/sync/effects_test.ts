/** What an accepted push changes beside the repository: the same as a change through the API. */
import assert from "node:assert/strict";
import type { Artifact, Card } from "../../../../services/engines/fossil/mod.ts";
import { fileOf, hashOf, HostileScene, tag } from "../../../support/hostile_pusher.ts";

Deno.test("a push to a workspace renews the lease of its ticket, and withdraws approvals", async () => {
  await HostileScene.run(async (scene) => {
    const { answer, caller, other, api } = scene.test;
    const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: "Mine" } });
    const { expires_at } = await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "own", ticket } });
    const commit = { message: "1", changes: [{ path: "own.txt", content: "1" }] };
    const { uuid } = await answer("POST /api/workspaces/own/commit", { as: caller, body: commit });
    const review = { title: "Own", workspace: "own" };
    const { id } = await answer("POST /api/reviews/create", { as: caller, body: review });
    await answer(`POST /api/reviews/${id}/approve`, { as: other, body: {} });
    api.services.clock.advance(3_600_000);
    await scene.honest(scene.checkin(uuid, { date: scene.now + 120_000 }));
    const { status, round } = await answer(`GET /api/reviews/${id}`);
    assert.deepEqual([status, round], ["pending", 2]);
    const { claim } = await answer(`GET /api/tickets/${ticket}`);
    assert.ok(claim.expires_at > expires_at, `${claim.expires_at} is not after ${expires_at}`);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.checkin"] });
    assert.equal(events.at(-1)?.actor, "agent:caller");
  });
});

Deno.test("a pushed change of a ticket renews its holder's lease alone", async () => {
  await HostileScene.run(async (scene) => {
    const { answer, caller, other, api } = scene.test;
    const claimed = async (as: string) => {
      const { uuid } = await answer("POST /api/tickets", { body: { title: "Work" } });
      return { uuid, ...await answer(`POST /api/tickets/${uuid}/claim`, { as }) };
    };
    const [own, foreign] = [await claimed(caller), await claimed(other)];
    api.services.clock.advance(3_600_000);
    const field = { name: "priority", value: "High", append: false };
    for (const { uuid } of [own, foreign]) {
      await scene.honest({
        kind: "ticket",
        date: scene.now + 120_000,
        user: "caller",
        ticket: uuid,
        fields: [field],
      });
    }
    const expiry = async ({ uuid }: { uuid: string }) =>
      (await answer(`GET /api/tickets/${uuid}`)).claim.expires_at;
    assert.ok(await expiry(own) > own.expires_at);
    assert.equal(await expiry(foreign), foreign.expires_at);
  });
});

Deno.test("a pushed merge of a workspace ends it, and closes its ticket once", async () => {
  await HostileScene.run(async (scene) => {
    const { answer, caller, api } = scene.test;
    const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: "Mine" } });
    await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "own", ticket } });
    const commit = { message: "1", changes: [{ path: "own.txt", content: "1" }] };
    const { uuid } = await answer("POST /api/workspaces/own/commit", { as: caller, body: commit });
    api.services.clock.advance(60_000);
    const { feature, now: date } = scene;
    const merge = scene.checkin(feature, { date, parents: [feature, uuid] });
    await scene.honest({ ...merge, tags: [tag("+", "closed", uuid)] });
    const { status, target_branch } = await answer("GET /api/workspaces/own");
    assert.deepEqual([status, target_branch], ["merged", "feature"]);
    await api.services.hosting.ticketNotes.idle();
    const closed = await answer(`GET /api/tickets/${ticket}`);
    assert.deepEqual([closed.claim, closed.status], [null, "Closed"]);
    // Somebody who reopens the ticket is not overruled.
    await answer(`PATCH /api/tickets/${ticket}`, { body: { status: "Open" } });
    await api.services.hosting.ticketNotes.idle();
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).status, "Open");
  });
});

Deno.test("the events of a push name the pusher, even if they come after a crash", async () => {
  await HostileScene.run(async (scene) => {
    const { api, catchUp } = scene.test;
    let isCrashing = true;
    api.services.hosting.repositories.onReceived(() => {
      if (isCrashing) throw new Error("The process ends between the push and its events");
      return {};
    });
    const card = fileOf(scene.checkin(scene.feature, { comment: "the push", date: scene.now }));
    await scene.send({ cards: [card] }).then(() => {}, () => {});
    const checkins = async () => {
      const { events } = await api.services.eventLog.read({ after: 0, types: ["project.checkin"] });
      return events.flatMap(({ actor, data }) => data["comment"] === "the push" ? [actor] : []);
    };
    assert.deepEqual(await checkins(), []);
    isCrashing = false;
    await catchUp();
    assert.deepEqual(await checkins(), ["agent:caller"]);
  });
});

Deno.test("a workspace whose branch a push closes is abandoned", async () => {
  await HostileScene.run(async (scene) => {
    await scene.honest(scene.control(tag("+", "closed", scene.mine)));
    const { status } = await scene.test.answer("GET /api/workspaces/mine");
    assert.equal(status, "abandoned");
  });
});

Deno.test("what comes before the artifacts that it depends on is asked for again", async () => {
  await HostileScene.run(async (scene) => {
    const { answer } = scene.test;
    const { feature, now: date } = scene;
    const parent = scene.checkin(feature, { comment: "parent", date });
    const child = scene.checkin(hashOf(parent), { comment: "child", date: date + 1 });
    const named = { ...scene.control(tag("+", "sym-v1", hashOf(child))), date: date + 2 };
    const file = new TextEncoder().encode("a file\n");
    const cards = [named as Artifact, child, file].map(fileOf);
    const announced: Card = { kind: "igot", hash: hashOf(parent), isPrivate: false };
    const first = await scene.send({ cards: [...cards, announced] });
    assert.deepEqual(first.errors, []);
    const wanted = first.cards.flatMap((card) => card.kind === "gimme" ? [card.hash] : []);
    assert.equal(wanted[0], hashOf(parent));
    await scene.honest(named as Artifact, child, parent);
    const { checkins } = await answer("GET /api/timeline?branch=feature");
    assert.deepEqual([checkins[0].comment, checkins[1].comment], ["child", "parent"]);
    assert.deepEqual((await answer("GET /api/tags")).tags[0].name, "v1");
  });
});

Deno.test("work that is given by pushes is told, and a circle from elsewhere stops nothing", async () => {
  await HostileScene.run(async (scene) => {
    const { answer, send, caller, other, api } = scene.test;
    const file = async (title: string) =>
      (await answer("POST /api/tickets", { as: other, body: { title, labels: ["x"] } })).uuid;
    const [one, two, three] = [await file("One"), await file("Two"), await file("Three")];
    const push = async (ticket: string, values: Readonly<Record<string, string>>) => {
      api.services.clock.advance(1000);
      const fields = Object.entries(values).map(([name, value]) => (
        { name, value, append: false }
      ));
      const change = { date: scene.now + 120_000, user: "caller", ticket, fields };
      await scene.honest({ kind: "ticket", ...change });
    };
    await push(three, { blocked_by: `${one} ${two.slice(0, 12)}`, assignee: "other" });
    await push(one, { blocked_by: two });
    await push(two, { blocked_by: `${three}, ${one}` });
    const { tickets } = await answer("GET /api/tickets?blocked=true");
    assert.equal(tickets.length, 3);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 0);
    assert.equal((await send("POST /api/tickets/4/claim", { as: other })).status, 409);
    const still = await send("PATCH /api/tickets/2", { as: caller, body: { blocked_by: ["4"] } });
    assert.equal(still.status, 409);
    await answer("PATCH /api/tickets/3", { as: caller, body: { blocked_by: [] } });
    await push(two, { status: "Closed" });
    await push(one, { status: "Closed" });
    await answer("POST /api/tickets/4/claim", { as: other });
    await api.services.hosting.notifier.idle();
    const inbox = await api.answer("GET /v1/agents/other/messages") as { text: string }[];
    assert.deepEqual(inbox.map(({ text }) => text), [
      "caller has assigned ticket #4 “Three” to you; it is blocked by #2, #3",
      "Ticket #2 “One” is no longer blocked: caller has closed ticket #3",
      "Ticket #4 “Three” is no longer blocked: caller has closed ticket #2",
    ]);
  });
});
