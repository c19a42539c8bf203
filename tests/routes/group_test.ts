import assert from "node:assert/strict";
import { type Context, Hono, type MiddlewareHandler, type Next } from "hono";
import { ApiRoutes } from "../../routes/api_routes.ts";
import type { AppEnv } from "../../routes/environment.ts";
import { lazyGroup, switchedOff } from "../../routes/group.ts";
import { NotFound } from "../../services/kernel/errors.ts";

/** The group `guide`, with handlers of its route. */
function guideOf(...handlers: ((context: Context<AppEnv>, next: Next) => unknown)[]) {
  const routes = new ApiRoutes();
  for (const handler of handlers) routes.get("/llms.txt", handler as MiddlewareHandler<AppEnv>);
  return Promise.resolve(routes);
}

/** An app with the group `guide`, whose only route is `GET /llms.txt`. */
function appWith(create: Parameters<typeof lazyGroup>[1]): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.onError((error, context) => context.text(error.message, 500));
  lazyGroup("guide", create).addTo(app);
  return app;
}

Deno.test("the first request for a route of a group loads it, once, and other requests do not", async () => {
  let loads = 0;
  const app = appWith(() => {
    loads++;
    return guideOf((context) => context.text("guide"));
  });
  assert.equal((await app.request("/other")).status, 404);
  assert.equal((await app.request("/llms.txt", { method: "POST" })).status, 404);
  assert.equal(loads, 0);
  const answers = await Promise.all([app.request("/llms.txt"), app.request("/llms.txt")]);
  assert.deepEqual(await Promise.all(answers.map((answer) => answer.text())), ["guide", "guide"]);
  const head = await app.request("/llms.txt", { method: "HEAD" });
  assert.deepEqual([head.status, await head.text(), loads], [200, "", 1]);
});

Deno.test("what stands before a handler runs first, may answer itself, and its errors are handled", async () => {
  const app = appWith(() =>
    guideOf(
      async (context, next) => {
        if (context.req.query("refuse") !== undefined) return context.text("refused", 403);
        await next();
        context.header("X-After", "yes");
        return undefined;
      },
      (context) => {
        if (context.req.query("fail") !== undefined) throw new Error("broken");
        return context.text("guide");
      },
    )
  );
  const answer = await app.request("/llms.txt");
  assert.deepEqual([await answer.text(), answer.headers.get("x-after")], ["guide", "yes"]);
  assert.equal((await app.request("/llms.txt?refuse")).status, 403);
  const failed = await app.request("/llms.txt?fail");
  assert.deepEqual([failed.status, await failed.text()], [500, "broken"]);
});

Deno.test("a group that cannot be loaded is tried again with the next request", async () => {
  let attempts = 0;
  const app = appWith(() => {
    if (++attempts === 1) return Promise.reject(new Error("no module"));
    return guideOf((context) => context.text("guide"));
  });
  assert.equal((await app.request("/llms.txt")).status, 500);
  assert.equal((await app.request("/llms.txt")).status, 200);
});

Deno.test("a group that is switched off refuses every method below its paths", async () => {
  const app = new Hono<AppEnv>();
  app.onError((error, context) =>
    context.text(error.message, error instanceof NotFound ? 404 : 500)
  );
  const group = switchedOff(["ALL"], ["/v1/admins/*"], "There are no admins");
  group.addTo(app);
  assert.equal(group.load, null);
  for (const path of ["/v1/admins", "/v1/admins/ann"]) {
    const answer = await app.request(path, { method: "DELETE" });
    assert.deepEqual([answer.status, await answer.text()], [404, "There are no admins"]);
  }
});
