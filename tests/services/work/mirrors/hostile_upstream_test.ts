import assert from "node:assert/strict";
import { CardWriter, packMessage } from "../../../../services/engines/fossil/mod.ts";
import { type TestApi, withApi } from "../../../support/scenarios.ts";
import { THOROUGH } from "../../../support/level.ts";

const PATH = "/v1/projects/demo/mirror";
const ZERO = "0".repeat(40);
const OTHER = "1".repeat(40);
const PLAIN = { headers: { "content-type": "application/x-fossil-uncompressed" } };
const PACKED = { headers: { "content-type": "application/x-fossil" } };

/** Runs a mirror once against an upstream that answers anything; returns why it failed. */
async function failure(
  answer: (api: TestApi, request: Request) => Response | Promise<Response>,
): Promise<{ readonly reason: string; readonly paths: readonly string[] }> {
  const paths: string[] = [];
  let reason = "";
  await withApi(async (api) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        paths.push(new URL(request.url).pathname);
        await request.body?.cancel();
        return await answer(api, request);
      },
    );
    await api.answer("POST /v1/projects", { slug: "demo", name: "Demo" });
    const { events: before } = await api.services.eventLog.read({ types: ["project.*"] });
    const url = `http://127.0.0.1:${server.addr.port}/up`;
    await api.answer(`PUT ${PATH}`, { fossil: { url } });
    await api.services.hosting.mirrors.idle();
    const view = await api.answer(`GET ${PATH}`) as { last_error: string | null };
    reason = view.last_error ?? "";
    const { events: after } = await api.services.eventLog.read({ types: ["project.*"] });
    assert.equal(after.length, before.length + 1, "only the setting of the mirror is an event");
    const left = [...Deno.readDirSync(`${api.services.folder}/projects/.mirrors`)];
    assert.deepEqual(left, []);
  }, { config: { webhooks: { allow_private: true }, limits: { sync_bytes: 1_048_576 } } });
  return { reason, paths };
}

function cloned(next: number, fill: (cards: CardWriter) => void = () => {}): Response {
  const cards = new CardWriter();
  fill(cards);
  cards.add({ kind: "clone_seqno", next });
  cards.add({ kind: "push", serverCode: ZERO, projectCode: OTHER });
  return new Response(cards.bytes().slice(), PLAIN);
}

Deno.test("a redirect is not followed, and what is no Fossil repository is refused", async () => {
  const moved = await failure((_, { url }) => Response.redirect(new URL("/private", url)));
  assert.match(moved.reason, /redirects to another URL, which muster does not follow/);
  assert.deepEqual(moved.paths, ["/up"]);
  const page = await failure(() => new Response("<html>"));
  assert.match(page.reason, /^No Fossil repository answers at http:/);
});

Deno.test("a bomb, an endless answer and an endless clone are stopped", async () => {
  const bomb = await failure(() => {
    const body = packMessage(new Uint8Array(100), "compressed").slice();
    new DataView(body.buffer).setUint32(0, 0x7fffffff);
    return new Response(body, PACKED);
  });
  assert.match(bomb.reason, /the limit is 1048576$/);
  const endless = await failure(() => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      controller.enqueue(new Uint8Array(65_536).fill(35));
    return new Response(new ReadableStream({ pull }), PLAIN);
  });
  assert.match(endless.reason, /has more than 1048576 bytes$/);
  const circle = await failure(() => cloned(2));
  assert.match(circle.reason, /does not go on with the clone/);
});

Deno.test("content that does not have its name is not stored", async () => {
  const { reason } = await failure(() =>
    cloned(0, (cards) => {
      const content = new TextEncoder().encode("something else\n");
      cards.add({ kind: "file", hash: "a".repeat(64), source: null, content });
    })
  );
  assert.match(reason, /^The import is refused: 1 artifacts are damaged: "a{64}"/);
});

Deno.test("an upstream that names artifacts and never sends them is left", THOROUGH, async () => {
  let names = 0;
  const { reason, paths } = await failure(async ({ services: { hosting } }) => {
    const { project } = hosting.projects.require("demo");
    const codes = await hosting.repositories.read(project, (one) => one.syncCodes());
    const cards = new CardWriter();
    for (let count = 0; count < 500; count++) {
      const hash = (names++).toString(16).padStart(64, "f");
      cards.add({ kind: "igot", hash, isPrivate: false });
    }
    cards.add({ kind: "push", ...codes });
    return new Response(cards.bytes().slice(), PLAIN);
  });
  assert.equal(reason, "Upstream names artifacts that it does not send");
  assert.ok(paths.length < 50, `${paths.length} messages`);
});
