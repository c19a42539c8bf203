import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

interface Shown {
  readonly id: string;
  readonly nick: string;
  readonly account: string | null;
  readonly text: string;
  readonly via?: string;
}

async function messagesOf(program: Program, channel: string): Promise<Shown[]> {
  const response = await call(program, "GET", `/v1/channels/${channel}/messages`);
  assert.equal(response.status, 200);
  return await response.json();
}

Deno.test("a message names its account, and marks words of the operator under another name", () =>
  withFolder(async (folder) => {
    const environment = { MUSTER_IRC_HISTORY_PERSIST: "true" };
    const path = "/v1/channels/general/messages";
    let shown: Shown[];
    {
      await using program = await startProgram({ folder, environment });
      const scout = await registerAgent(program, "scout");
      await using guest = await IrcClient.connect(program.irc);
      await guest.register({ nick: "guest" });
      await guest.join("#general");
      const basic = { authorization: `Basic ${btoa(`scout:${scout.passphrase}`)}` };
      for (
        const response of [
          await call(program, "POST", path, { nick: "scout", text: "posted for scout" }),
          await call(program, "POST", path, { text: "posted for nobody" }),
          await fetch(program.api + path, {
            method: "POST",
            headers: basic,
            body: JSON.stringify({ text: "posted by scout" }),
          }),
        ]
      ) assert.equal(response.status, 204);
      await using session = await IrcClient.connect(program.irc);
      await session.register({ nick: "scout", password: scout.passphrase });
      await session.join("#general");
      await session.send("PRIVMSG #general :said by scout");
      await guest.expect(/:said by scout$/);
      await guest.send("PRIVMSG #general :said by a guest", "PING :done");
      await guest.expect(/ PONG .*done$/);
      shown = await messagesOf(program, "general");
      assert.deepEqual(
        shown.map(({ nick, account, text, via }) => ({ nick, account, text, via })),
        [
          { nick: "scout", account: null, text: "posted for scout", via: "bridge" },
          { nick: "bridge", account: "bridge", text: "posted for nobody", via: undefined },
          { nick: "scout", account: "scout", text: "posted by scout", via: undefined },
          { nick: "scout", account: "scout", text: "said by scout", via: undefined },
          { nick: "guest", account: null, text: "said by a guest", via: undefined },
        ],
      );
      await program.stop();
    }
    await using program = await startProgram({ folder, environment });
    assert.deepEqual(await messagesOf(program, "general"), shown, "as before the restart");
  }));

Deno.test("only the bridge can send the tags of the bridge", async () => {
  await using program = await startProgram();
  await using watcher = await IrcClient.connect(program.irc);
  await watcher.register({
    nick: "watcher",
    capabilities: ["message-tags", "draft/multiline", "batch"],
  });
  await watcher.join("#general");
  await using guest = await IrcClient.connect(program.irc);
  await guest.register({
    nick: "guest",
    capabilities: ["message-tags", "draft/multiline", "batch"],
  });
  await guest.join("#general");
  const tags = "@+muster/nick=admin;+Muster/Account=admin;+muster/quiet;+draft/reply=x";
  await guest.send(
    `${tags} PRIVMSG #general :one`,
    `${tags} NOTICE #general :two`,
    `${tags} TAGMSG #general`,
    `${tags} BATCH +1 draft/multiline #general`,
    "@batch=1 PRIVMSG #general :three",
    "BATCH -1",
    `${tags} PRIVMSG watcher :four`,
  );
  for (const pattern of [/one$/, /two$/, /TAGMSG/, /BATCH \+/, /four$/]) {
    const line = await watcher.expect(pattern);
    assert.match(line, /draft\/reply=x/);
    assert.doesNotMatch(line, /muster/i);
  }
  const response = await call(program, "POST", "/v1/channels/general/messages", {
    nick: "admin",
    text: "five",
  });
  assert.equal(response.status, 204);
  assert.match(await watcher.expect(/five$/), /\+muster\/nick=admin/);
  await guest.send("VERSION");
  await guest.expect(/ 005 .* CLIENTTAGDENY=muster\/nick,muster\/account,muster\/quiet /);
});
