import assert from "node:assert/strict";
import { call, type Message, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const CAPABILITIES = ["batch", "echo-message", "message-tags"]
  .concat(
    ["chathistory", "multiline", "message-redaction", "read-marker"].map((name) => `draft/${name}`),
  );

const KEEPING = "irc: { history: { persist: true } }\n";

async function texts(program: Program): Promise<string[]> {
  const response = await call(program, "GET", "/v1/channels/general/messages");
  return (await response.json()).map(({ text }: Message) => text);
}

Deno.test("lines, redactions and read markers of IRC clients hold over HTTP and a restart", async () => {
  await withFolder(async (folder) => {
    const marker = "timestamp=2026-01-01T00:00:00.000Z";
    let password: string;
    {
      await using program = await startProgram({ folder, config: KEEPING });
      const { passphrase } = await registerAgent(program, "ann", { channels: ["general"] });
      password = passphrase;
      await using ann = await IrcClient.connect(program.irc);
      await ann.register({ nick: "ann", password, capabilities: CAPABILITIES });
      await ann.send("JOIN #general");
      await ann.expect(/ MARKREAD #general \*$/);
      await ann.send("BATCH +1 draft/multiline #general", "@batch=1 PRIVMSG #general :one");
      await ann.send("@batch=1 PRIVMSG #general :two", "BATCH -1", "PRIVMSG #general :three");
      const batch = await ann.expect(/ BATCH \+\S+ draft\/multiline #general$/);
      await ann.expect(/ PRIVMSG #general :three$/);
      assert.deepEqual(await texts(program), ["one", "two", "three"]);
      const id = /\bmsgid=([^; ]+)/.exec(batch)?.[1];
      await ann.send("BATCH +2 draft/multiline #general", "@batch=2 PRIVMSG #general :four");
      await ann.send("@batch=2 PRIVMSG #general :five", "BATCH -2");
      await ann.send(`REDACT #general ${id}`, `MARKREAD #general ${marker}`);
      await ann.expect(new RegExp(` MARKREAD #general ${marker}$`));
      assert.deepEqual(await texts(program), ["three", "four", "five"]);
      assert.equal(await program.stop(), 0);
    }
    await using program = await startProgram({ folder });
    await using ann = await IrcClient.connect(program.irc);
    await ann.register({ nick: "ann", password, capabilities: CAPABILITIES });
    await ann.send("JOIN #general");
    await ann.expect(new RegExp(` MARKREAD #general ${marker}$`));
    await ann.send("CHATHISTORY LATEST #general * 10");
    await ann.expect(/ BATCH \+\S+ chathistory #general$/);
    const shown = ["three", "", "four", "five"];
    for (const text of shown) {
      const line = await ann.expect(/ (PRIVMSG|BATCH) /);
      if (text === "") {
        assert.match(line, /^@batch=\S+ :ann!\S+ BATCH \+\S+ draft\/multiline #general$/);
      } else assert.ok(line.endsWith(`PRIVMSG #general :${text}`), line);
    }
  });
});
