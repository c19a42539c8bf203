import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";
import { anAgent, eventTypes } from "../../support/services.ts";

const KEYS = "/v1/signing-keys";

/** The line of a new key. */
function newKey(comment = ""): string {
  const { publicKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  const head = "AAAAC3NzaC1lZDI1NTE5AAAAI";
  const blob = new Uint8Array([
    ...Uint8Array.fromBase64(`${head}AAA`).subarray(0, 19),
    ...Uint8Array.fromBase64(x ?? "", { alphabet: "base64url" }),
  ]);
  blob[18] = 32;
  return `ssh-ed25519 ${blob.toBase64()} ${comment}`;
}

async function add(api: TestApi, body: unknown, who: "writer" | "operator" = "writer") {
  const response = await api.send({ who, request: `POST ${KEYS}`, body });
  return { status: response.status, answer: await response.json() };
}

Deno.test("/v1/signing-keys is for those who have an account", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody(`GET ${KEYS}`, ["reader", "writer", "passphrase", "operator"], 200),
      ...byEverybody(`POST ${KEYS}`, ["writer", "passphrase", "operator"], 400),
      ...byEverybody(`DELETE ${KEYS}/nothing`, ["writer", "passphrase", "operator"], 404),
    ]);
  });
});

Deno.test("an agent adds, lists and removes its keys", async () => {
  await withApi(async (api) => {
    const key = newKey("my laptop");
    const { status, answer: made } = await add(api, { key });
    assert.equal(status, 201, JSON.stringify(made));
    assert.deepEqual([made.owner, made.name], ["caller", "my laptop"]);
    assert.equal(made.key, key.split(" ").slice(0, 2).join(" "));
    const named = await add(api, { key: newKey(), name: "work" });
    const listed = await api.send({ who: "writer", request: `GET ${KEYS}` });
    const ids = (keys: readonly { readonly id: string }[]) => keys.map(({ id }) => id).sort();
    assert.deepEqual(ids(await listed.json()), ids([made, named.answer]));
    assert.equal((await add(api, { key })).status, 409);
    await anAgent(api.services, "other");
    assert.equal((await add(api, { key: newKey(), owner: "other" })).status, 403);
    const others = await add(api, { key: newKey(), owner: "other" }, "operator");
    assert.deepEqual([others.status, others.answer.owner], [201, "other"]);
    assert.equal((await add(api, { key: newKey(), owner: "nobody" }, "operator")).status, 404);
    assert.equal((await add(api, { key: newKey() }, "operator")).status, 400);
    await api.expect([
      { who: "writer", request: `DELETE ${KEYS}/${others.answer.id}`, status: 404 },
      { who: "writer", request: `DELETE ${KEYS}/${made.id}`, status: 204 },
      { who: "writer", request: `DELETE ${KEYS}/${made.id}`, status: 404 },
      { request: `DELETE ${KEYS}/${others.answer.id}`, status: 204 },
    ]);
    assert.equal((await add(api, { key }, "writer")).status, 201, "it is free again");
    const types = (await eventTypes(api.services)).filter((type) => type.startsWith("signing_key"));
    assert.deepEqual(types, [
      ...Array.from({ length: 3 }, () => "signing_key.added"),
      ...Array.from({ length: 2 }, () => "signing_key.removed"),
      "signing_key.added",
    ]);
  });
});

Deno.test("the comment of a key names it, as one line that can be shown", async () => {
  await withApi(async (api) => {
    const nameOf = async (comment: string) =>
      (await add(api, { key: newKey(comment) })).answer.name;
    assert.equal(await nameOf("a\u001b[31m\u202eb"), "a [31m b");
    assert.equal(await nameOf(`${"x".repeat(99)}😀`), `${"x".repeat(99)}\ufffd`);
    assert.match(await nameOf("\0\u202e"), /^SHA256:/);
  });
});

Deno.test("an account has so many keys, and its keys go with it", async () => {
  await withApi(async (api) => {
    const keys = Array.from({ length: 20 }, () => newKey());
    for (const key of keys) assert.equal((await add(api, { key })).status, 201);
    const more = await add(api, { key: newKey() });
    assert.equal(more.status, 409);
    assert.match(more.answer.error, /20 keys/);
    await anAgent(api.services, "other");
    await api.expect([
      { request: "POST /v1/agents/caller/revoke", status: 204 },
      { request: "DELETE /v1/agents/caller", status: 204 },
    ]);
    assert.equal((await add(api, { key: keys[0], owner: "other" }, "operator")).status, 201);
  });
});
