/** What one of several nodes does for all: every node answers for it, and another one takes over. */
import assert from "node:assert/strict";
import { call, callAs, type Credentials, order, registerAgent } from "../support/api.ts";
import { testCluster } from "../support/cluster.ts";
import type { Program } from "../support/program.ts";
import { Receiver } from "../services/work/webhooks/receiver.ts";
import { asked } from "../support/until.ts";

/** Sends a message to scout, again and again while no node leads. */
async function tell(node: Program, text: string): Promise<void> {
  const send = async () => {
    const body = { text, client_id: text };
    const response = await call(node, "POST", "/v1/agents/scout/messages", body);
    const answer = await response.text();
    if (response.ok) return true;
    assert.equal(response.status, 503, answer);
    assert.ok(response.headers.has("retry-after"), answer);
    return false;
  };
  await asked(send, (isSent) => isSent);
}

async function inboxOf(node: Program, scout: Credentials, query = ""): Promise<string[]> {
  const response = await callAs(node, scout, "GET", `/v1/agents/scout/messages${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text).map((message: { text: string }) => message.text);
}

/** Whether a message tells of the end of a question without an answer. */
function isEnd(text: string): boolean {
  return /^Nobody answered .* so its default counts: no$/.test(text);
}

testCluster(
  "what the leading node does for all goes on after it died",
  async (cluster) => {
    await using receiver = new Receiver();
    const environment = { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" };
    const one = await cluster.start("one", environment);
    const two = await cluster.start("two", environment);
    const scout = await registerAgent(one, "scout");
    const waits = inboxOf(two, scout, "?wait_seconds=60");
    await tell(two, "first");
    assert.deepEqual(await waits, ["first"]);
    assert.deepEqual(await inboxOf(one, scout), ["first"]);

    const { id, token } = await order(two, "POST /v1/tokens", {
      owner: "scout",
      name: "test",
      scopes: ["read"],
    }) as { id: string; token: string };
    const bearer = { headers: { authorization: `Bearer ${token}` } };
    const status = async (node: Program) => {
      const response = await fetch(`${node.api}/v1/status`, bearer);
      await response.body?.cancel();
      return response.status;
    };
    assert.deepEqual([await status(one), await status(two)], [200, 200]);
    await order(two, `DELETE /v1/tokens/${id}`);
    assert.deepEqual([await status(one), await status(two)], [401, 401]);

    await order(two, "POST /v1/webhooks", { url: receiver.url });
    const question = { text: "Shall I?", deadline: 10, default: "no" };
    const accepted = await callAs(two, scout, "POST", "/v1/questions", question);
    assert.equal(accepted.status, 201, await accepted.text());
    await one.stop("SIGKILL");
    await tell(two, "second");
    await tell(two, "second");
    await order(two, "POST /v1/projects", { slug: "demo" });
    assert.equal(JSON.parse((await receiver.next()).body).type, "created");
    // The question may end before the second message comes: both wait until a node leads.
    const all = await asked(() => inboxOf(two, scout), (texts) => texts.some(isEnd));
    assert.deepEqual(all.filter((text) => !isEnd(text)), ["first", "second"]);
    assert.equal(all.length, 3);
  },
);

testCluster(
  "a token that ends on one node ends its open streams on the others",
  async (cluster) => {
    const one = await cluster.start("one");
    const two = await cluster.start("two");
    await order(one, "POST /v1/admins", { username: "root", password: "correct horse" });
    const { id, token } = await order(one, "POST /v1/tokens", {
      owner: "root",
      name: "test",
      scopes: ["admin"],
    }) as { id: string; token: string };
    const stream = await fetch(`${two.api}/v1/events`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    });
    assert.equal(stream.status, 200);
    const ended = stream.text();
    await order(one, `DELETE /v1/tokens/${id}`);
    assert.ok(!(await ended).includes("token.revoked"));
  },
);
