import assert from "node:assert/strict";
import { ApiRoutes } from "../../routes/api_routes.ts";
import { errorHandler } from "../../routes/middleware/errors.ts";
import { TooMany } from "../../services/kernel/errors.ts";
import { silentLog } from "../../services/kernel/log.ts";

const SECRET = "a secret that an exception happened to hold";

/** An application whose only handler fails with this. */
function failingWith(error: Error, logged: (properties: Record<string, unknown>) => void) {
  const app = new ApiRoutes();
  app.onError(errorHandler({ ...silentLog, error: (_, properties = {}) => logged(properties) }));
  app.use(async (context, next) => {
    context.set("requestId", "some-id");
    await next();
  });
  return app.get("/", () => {
    throw error;
  });
}

Deno.test("a bug is answered 500 with nothing but the id of its log record", async () => {
  const bug = new Error(SECRET);
  const records: Record<string, unknown>[] = [];
  const app = failingWith(bug, (properties) => records.push(properties));
  const response = await app.request("/", {}, { remoteAddress: "192.0.2.1" });
  assert.equal(response.status, 500);
  assert.deepEqual(await response.json(), { error: "internal error (some-id)" });
  assert.deepEqual(records, [{ requestId: "some-id", error: bug }]);
});

Deno.test("a reached limit is answered 429 and says when to retry", async () => {
  const app = failingWith(new TooMany("Too many", 1.2), () => {});
  const response = await app.request("/", {}, { remoteAddress: "192.0.2.1" });
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), "2");
  assert.deepEqual(await response.json(), { error: "Too many" });
});

Deno.test("work that ended because its client left is no bug", async () => {
  const client = new AbortController();
  client.abort();
  const records: Record<string, unknown>[] = [];
  const app = failingWith(client.signal.reason, (properties) => records.push(properties));
  const request = new Request("http://localhost/", { signal: client.signal });
  const response = await app.request(request, {}, { remoteAddress: "192.0.2.1" });
  assert.equal(response.status, 503);
  await response.body?.cancel();
  assert.deepEqual(records, []);
});
