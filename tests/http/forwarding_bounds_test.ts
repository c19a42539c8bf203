import assert from "node:assert/strict";
import type { ArrivalHandler } from "../../http/mod.ts";
import { until } from "../support/until.ts";
import { refusalOf, withNodes, type World } from "./two_nodes.ts";

/** Sends a request to the far node as somebody. */
function ask({ front }: World, caller: string, init: RequestInit = {}): Promise<Response> {
  const headers = { "x-caller": caller, ...init.headers };
  return fetch(`http://127.0.0.1:${front.port}/far`, { ...init, headers });
}

/** A body of which only the beginning comes. */
function heldBack(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
}

/** A handler whose answers wait for an end. */
function waiting(end: Promise<void>): ArrivalHandler {
  return async (request, _connection, arrival) => {
    const refusal = refusalOf(arrival);
    if (refusal !== null) return refusal;
    if (request.method === "GET") await end;
    return new Response(await request.text());
  };
}

Deno.test("nobody takes the places of others with requests that wait at another node", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  await withNodes(
    waiting(end),
    async (world) => {
      const answers = ["ann", "ann"].map((name) => ask(world, name));
      await until(() => world.seen.far.length === 2);
      const refused = await ask(world, "ann");
      assert.equal(refused.status, 429);
      const { error, retryAfterSeconds } = await refused.json();
      assert.equal(
        error,
        "You have 2 requests under way to another node, the most for one caller. Close one first",
      );
      assert.equal(retryAfterSeconds, 2);
      answers.push(ask(world, "bob"), ask(world, ""));
      await until(() => world.seen.far.length === 4);
      resolve();
      for (const answer of answers) assert.equal((await answer).status, 200);
      assert.equal((await ask(world, "ann")).status, 200);
    },
    { maxUnderWay: 8 },
  );
});

Deno.test("the first few requests at another node take nobody's places", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  await withNodes(
    waiting(end),
    async (world) => {
      const answers: Promise<Response>[] = [];
      // Two without a place, and a quarter of the other 32.
      for (let count = 1; count <= 10; count++) {
        answers.push(ask(world, "ann"));
        await until(() => world.seen.far.length === count);
      }
      assert.match(await (await ask(world, "ann")).text(), /^{"error":"You have 8 requests under/);
      answers.push(ask(world, "bob"));
      resolve();
      for (const answer of answers) assert.equal((await answer).status, 200);
      assert.equal((await ask(world, "ann")).status, 200);
    },
    { maxUnderWay: 34 },
  );
});

Deno.test("guests leave half of the places, and others some for the operator", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  await withNodes(
    waiting(end),
    async (world) => {
      const from = (address: string) => ask(world, "", { headers: { "x-forwarded-for": address } });
      const answers = [from("192.0.2.1"), from("192.0.2.1"), from("192.0.2.2"), from("192.0.2.3")];
      await until(() => world.seen.far.length === 4);
      assert.match(await (await from("192.0.2.4")).text(), /^{"error":"Guests have 4 requests/);
      answers.push(...["ann", "ann", "bob"].map((name) => ask(world, name)));
      await until(() => world.seen.far.length === 7);
      assert.match(await (await ask(world, "bob")).text(), /Too many requests are under way/);
      answers.push(ask(world, "operator"));
      await until(() => world.seen.far.length === 8);
      resolve();
      for (const answer of answers) assert.equal((await answer).status, 200);
    },
    { maxUnderWay: 8, proxies: ["127.0.0.1"] },
  );
});

Deno.test("an answer takes its place until it has been read to its end", () =>
  withNodes(
    (_request, _connection, arrival) => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("begun")),
      });
      return refusalOf(arrival) ?? new Response(body);
    },
    async (world) => {
      const [one, other] = [await ask(world, "ann"), await ask(world, "ann")];
      assert.equal((await ask(world, "ann")).status, 429);
      await one.body?.cancel();
      let third = await ask(world, "ann");
      for (; third.status !== 200; third = await ask(world, "ann")) await third.body?.cancel();
      await Promise.all([other, third].map((response) => response.body?.cancel()));
    },
    { maxUnderWay: 8 },
  ));

Deno.test("a body that is held back makes room for other requests", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  await withNodes(
    waiting(end),
    async (world) => {
      const slow = ask(world, "ann", { method: "POST", body: heldBack() });
      await until(() => world.seen.far.length === 1);
      const operators = ask(world, "operator", { method: "POST", body: heldBack() });
      operators.catch(() => {});
      await until(() => world.seen.far.length === 2);
      const answers = ["bob", "eve"].map((name) => ask(world, name));
      await until(() => world.seen.far.length === 4);
      const last = ask(world, "dan");
      assert.match(await (await slow).text(), /has too much to answer/);
      await until(() => world.seen.far.length === 5);
      // The operator's own is not ended for it.
      assert.match(await (await ask(world, "fay")).text(), /Too many requests are under way/);
      resolve();
      for (const answer of [...answers, last]) assert.equal((await answer).status, 200);
      const whole = await ask(world, "ann", { method: "POST", body: "all" });
      assert.equal(await whole.text(), "all");
    },
    { maxUnderWay: 4 },
  );
});

Deno.test("a refusal for want of a place tells nobody more than the node itself would", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const handler: ArrivalHandler = async (request, _connection, arrival) => {
    const mayKnow = request.headers.get("x-caller") !== "";
    if (arrival?.mark !== null) {
      await end;
      return new Response("there");
    }
    if (!mayKnow) return new Response("not here", { status: 404 });
    return refusalOf(arrival) ?? Response.json({ error: "away" }, { status: 503 });
  };
  await withNodes(
    handler,
    async (world) => {
      const answers = ["", "ann"].map((name) => ask(world, name));
      await until(() => world.seen.far.length === 2);
      assert.equal((await ask(world, "")).status, 404);
      assert.equal((await ask(world, "ann")).status, 429);
      resolve();
      for (const answer of answers) assert.equal((await answer).status, 200);
    },
    { maxUnderWay: 4, refusesItself: true },
  );
});
