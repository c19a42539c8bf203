import assert from "node:assert/strict";
import { call, ChannelStream, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";

interface Caller {
  readonly api: string;
  readonly token: string;
}

/** Makes an admin's token. */
async function anAdminsToken({ api, token }: Program, ...scopes: string[]) {
  const request = { owner: "root", name: scopes.join(" "), scopes };
  const made = await (await call({ api, token }, "POST", "/v1/tokens", request)).json();
  return { api, token: made.token, id: made.id };
}

async function status(caller: Caller, method: string, path: string, body?: unknown) {
  const response = await call(caller, method, path, body);
  await response.body?.cancel();
  return response.status;
}

Deno.test("an admin's token opens what the API token opens, in the admin's name", async () => {
  await using program = await startProgram({ environment: { MUSTER_LOG_FORMAT: "json" } });
  const password = "correct horse";
  assert.equal(await status(program, "POST", "/v1/admins", { username: "root", password }), 201);
  const admin = await anAdminsToken(program, "admin");
  const reader = await anAdminsToken(program, "read");
  const { passphrase } = await registerAgent(admin, "scout", { channels: ["general"] });
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  await ann.join("#general");

  const post = { text: "hello, scout" };
  const path = "/v1/channels/general/messages";
  assert.equal(await status(admin, "POST", path, post), 204);
  await ann.expect(/ PRIVMSG #general :\[root\] hello, scout$/);
  assert.equal(await status(admin, "POST", "/v1/agents/scout/messages", post), 204);
  assert.equal(await status(admin, "POST", path, { nick: "eve", text: "hi" }), 204);
  await ann.expect(/ PRIVMSG #general :\[eve\] hi$/);
  const messages = await (await call(reader, "GET", path)).json();
  assert.deepEqual(
    messages.map(({ nick, account, via }: Record<string, string>) => [nick, account, via]),
    [["root", "root", undefined], ["eve", "root", "bridge"]],
  );
  const inbox = await (await call(reader, "GET", "/v1/agents/scout/messages")).json();
  assert.deepEqual(
    inbox.map(({ from, account, channel }: Record<string, string>) => [from, account, channel]),
    [["root", "root", "#general"], ["root", "root", null]],
  );

  for (const path of ["/v1/tokens", "/v1/admins", "/v1/metrics", "/v1/irc/clients", "/v1/events"]) {
    assert.equal(await status(reader, "GET", path), 200, path);
  }
  assert.equal(await status(reader, "POST", path, post), 403);
  assert.equal(await status(reader, "POST", "/v1/agents/scout/revoke"), 403);
  assert.equal(await status(await anAdminsToken(program, "write"), "POST", path, post), 403);

  const params = { name: "send_message", arguments: { channel: "#general", type: "task.create" } };
  const rpc = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  assert.equal((await rpc.json()).result.isError, false);
  await ann.expect(/^:bridge!\S+ PRIVMSG #general :\{.*"from":"root"/);

  const { events } = await (await call(admin, "GET", "/v1/events?types=agent.registered")).json();
  assert.equal(events[0].actor, "admin:root");
  assert.ok(program.log.some((line) => line.includes('"principal":"admin root"')));

  await using stream = await ChannelStream.open(admin, "general");
  assert.equal(await status(program, "DELETE", `/v1/tokens/${admin.id}`), 204);
  assert.equal(await stream.next(), null);
  assert.equal(await status(admin, "GET", "/v1/status"), 401);
  assert.equal(await status(reader, "GET", "/v1/status"), 200);
  assert.equal(passphrase.length, 64);
});

Deno.test("a session's cookie opens nothing below /v1", async () => {
  await using program = await startProgram();
  const credentials = { username: "root", password: "correct horse" };
  assert.equal(await status(program, "POST", "/v1/admins", credentials), 201);
  const login = await fetch(`${program.api}/login`, {
    method: "POST",
    body: JSON.stringify(credentials),
    headers: { "content-type": "application/json" },
  });
  await login.body?.cancel();
  const cookie = login.headers.getSetCookie().map((set) => set.split(";")[0]).join("; ");
  const response = await fetch(`${program.api}/v1/status`, { headers: { cookie } });
  await response.body?.cancel();
  assert.equal(response.status, 401);
});
