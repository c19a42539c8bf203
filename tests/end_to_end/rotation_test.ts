import assert from "node:assert/strict";
import { call, ChannelStream, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { runMuster, startProgram } from "../support/program.ts";

Deno.test("rotation ends the agent's tokens, streams and IRC sessions, unless tokens are kept", async () => {
  await using program = await startProgram();
  const { passphrase } = await registerAgent(program, "scout", { channels: ["general"] });
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "scout", password: passphrase });
  const issue = async () => {
    const request = { owner: "scout", name: "test", scopes: ["read"] };
    const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
    return { api: program.api, token };
  };
  const statusFor = async (scout: { api: string; token: string }) => {
    const response = await call(scout, "GET", "/v1/status");
    await response.body?.cancel();
    return response.status;
  };
  const scout = await issue();
  await using stream = await ChannelStream.open(scout, "general");

  const rotated = await call(program, "POST", "/v1/agents/scout/rotate");
  const { credentials } = await rotated.json();
  assert.equal(await stream.next(), null);
  await irc.expect(/^ERROR /);
  assert.equal(await statusFor(scout), 401);
  const list = await (await call(program, "GET", "/v1/tokens")).json();
  assert.deepEqual(list, []);

  const kept = await issue();
  await using going = await ChannelStream.open(kept, "general");
  await using session = await IrcClient.connect(program.irc);
  await session.register({ nick: "scout", password: credentials.passphrase });
  const { code } = await runMuster(["agent", "rotate", "scout", "--keep-tokens"], {
    folder: program.folder,
    environment: { MUSTER_URL: program.api },
  });
  assert.equal(code, 0);
  await session.expect(/^ERROR /);
  assert.equal(await statusFor(kept), 200);
  const post = { text: "still here" };
  await (await call(program, "POST", "/v1/channels/general/messages", post)).body?.cancel();
  assert.equal((await going.next())?.text, "still here");
  const wrong = await call(program, "POST", "/v1/agents/scout/rotate", { keep_tokens: "yes" });
  assert.equal(wrong.status, 400);
  await wrong.body?.cancel();
});
