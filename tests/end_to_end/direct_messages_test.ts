import assert from "node:assert/strict";
import { call, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

/** Sends a message as the agent itself, and gives the status of the answer. */
async function tell(
  { api }: Program,
  { nick, passphrase }: Credentials,
  to: string,
  text: string,
  clientId?: string,
): Promise<number> {
  const response = await fetch(`${api}/v1/agents/${to}/messages`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${nick}:${passphrase}`)}` },
    body: JSON.stringify({ text, client_id: clientId }),
  });
  await response.body?.cancel();
  return response.status;
}

Deno.test("agents talk in private with each other and with people, over HTTP", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  const builder = await registerAgent(program, "builder");
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });

  assert.equal(await tell(program, scout, "builder", "are you there?"), 204);
  const inbox = async ({ nick, passphrase }: Credentials) => {
    const response = await fetch(`${program.api}/v1/agents/${nick}/messages`, {
      headers: { authorization: `Basic ${btoa(`${nick}:${passphrase}`)}` },
    });
    const messages: { kind: string; from: string; text: string }[] = await response.json();
    return messages.map(({ kind, from, text }) => `${kind} ${from}: ${text}`);
  };
  assert.deepEqual(await inbox(builder), ["message scout: are you there?"]);
  assert.equal(await tell(program, builder, "scout", "I am"), 204);
  assert.deepEqual(await inbox(scout), ["message builder: I am"]);

  assert.equal(await tell(program, scout, "ann", "hello, ann"), 204);
  await ann.expect(/^:scout!agent@\S+ PRIVMSG ann :hello, ann$/);
  await ann.send("PRIVMSG scout :hello, scout");
  await ann.send("PING done");
  await ann.expect(/ PONG .*done$/);
  assert.deepEqual(await inbox(scout), ["message builder: I am", "message ann: hello, scout"]);

  assert.equal(await tell(program, scout, "nobody", "hello?"), 404);
  assert.equal(await tell(program, scout, "NickServ", "DROP scout"), 409);
});

Deno.test("a message with an id of its sender is sent once, also if the program is killed in between", () =>
  withFolder(async (folder) => {
    const person = { account: "ann", password: "correct horse" };
    const withHistory = ["batch", "draft/chathistory", "message-tags"];
    let agents: Credentials[] = [];
    for (let round = 0; round < 2; round++) {
      await using program = await startProgram({ folder });
      if (round === 0) {
        agents = [await registerAgent(program, "scout"), await registerAgent(program, "builder")];
        assert.equal((await call(program, "POST", "/v1/irc/accounts", person)).status, 201);
      }
      const [scout, builder] = agents;
      assert.ok(scout && builder);
      for (const to of ["ann", "builder"]) {
        for (let time = 0; time < 2; time++) {
          assert.equal(await tell(program, scout, to, "pay 100", `payment-${to}`), 204);
        }
      }
      if (round === 0) {
        await program.stop("SIGKILL");
        continue;
      }
      const response = await fetch(`${program.api}/v1/agents/builder/messages`, {
        headers: { authorization: `Basic ${btoa(`builder:${builder.passphrase}`)}` },
      });
      assert.equal((await response.json()).length, 1);
      for (
        const [nick, password] of Object.entries({
          ann: person.password,
          builder: builder.passphrase,
        })
      ) {
        await using client = await IrcClient.connect(program.irc);
        await client.register({ nick, password, capabilities: withHistory });
        await client.send("CHATHISTORY LATEST scout * 10");
        await client.expect(/BATCH \+/);
        await client.expect(/BATCH -/);
        assert.equal(client.lines.filter((line) => line.endsWith(":pay 100")).length, 1, nick);
      }
    }
  }));
