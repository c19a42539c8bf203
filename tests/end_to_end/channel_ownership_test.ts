import assert from "node:assert/strict";
import { call, callAs, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { startProgram } from "../support/program.ts";

/** Joins a channel and gives the line of NAMES, or several, as one text between spaces. */
async function membersAfterJoin(client: IrcClient, channel: string): Promise<string> {
  await client.send(`JOIN ${channel}`);
  const [, names] = (await client.expect(/ 353 /)).split(" :");
  await client.expect(/ 366 /);
  return ` ${names} `;
}

Deno.test("nobody becomes operator of muster's channels by joining first", async () => {
  await using program = await startProgram({ config: 'bridge: { channels: ["#lobby"] }' });
  await registerAgent(program, "scout", { channels: ["work"] });
  await call(program, "POST", "/v1/irc/accounts", { account: "bob", password: "correct horse" });
  await using guest = await IrcClient.connect(program.irc);
  await guest.register({ nick: "guest" });
  await using bob = await IrcClient.connect(program.irc);
  await bob.register({ nick: "bob", password: "correct horse" });

  for (const channel of ["#lobby", "#Work"]) {
    assert.match(await membersAfterJoin(guest, channel), / guest /);
    await guest.send(`MODE ${channel} +k key`);
    await guest.expect(/ 482 /);
    assert.match(await membersAfterJoin(bob, channel), / bob /);
    await bob.send(`MODE ${channel} +b *!*@*`);
    await bob.expect(/ 482 /);
  }
  assert.match(await membersAfterJoin(guest, "#den"), / @guest /);
  assert.match(await membersAfterJoin(bob, "#attic"), / @bob /);
});

Deno.test("agents get the status of their type in every channel, even when they join first", async () => {
  await using program = await startProgram();
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  const expected = { worker: "+worker-1", orchestrator: "@orchestrator-1", observer: "observer-1" };
  for (const [type, shown] of Object.entries(expected)) {
    const nick = `${type}-1`;
    const { passphrase } = await registerAgent(program, nick, { type, channels: ["work"] });
    await using agent = await IrcClient.connect(program.irc);
    await agent.register({ nick, password: passphrase });
    for (const channel of ["#work", `#made-by-${type}`]) {
      assert.ok((await membersAfterJoin(agent, channel)).includes(` ${shown} `), channel);
    }
    await agent.send("PART #work");
    await agent.expect(/ PART #work/);

    const other = await registerAgent(program, `${nick}-http`, { type });
    const joined = await callAs(program, other, "POST", `/v1/channels/via-http-${type}/join`);
    assert.equal(joined.status, 204);
    const members = await membersAfterJoin(ann, `#via-http-${type}`);
    assert.ok(members.includes(` ${shown}-http `), members);
  }
});

Deno.test("an agent that joined first and logs in later does not become operator", async () => {
  await using program = await startProgram();
  const { nick, passphrase } = await registerAgent(program, "scout");
  await using client = await IrcClient.connect(program.irc);
  await client.register({ nick: "stranger", capabilities: ["sasl"] });
  assert.match(await membersAfterJoin(client, "#den"), / @stranger /);
  await client.send(
    "AUTHENTICATE PLAIN",
    `AUTHENTICATE ${btoa(`${nick}\0${nick}\0${passphrase}`)}`,
  );
  await client.expect(/ MODE #den \+v-o stranger stranger$/);
});

Deno.test("a channel's operator loses the status when an agent is registered with the channel", async () => {
  await using program = await startProgram();
  await call(program, "POST", "/v1/irc/accounts", { account: "bob", password: "correct horse" });
  await using guest = await IrcClient.connect(program.irc);
  await guest.register({ nick: "guest" });
  await using bob = await IrcClient.connect(program.irc);
  await bob.register({ nick: "bob", password: "correct horse" });
  assert.match(await membersAfterJoin(guest, "#Later"), / @guest /);
  assert.match(await membersAfterJoin(bob, "#later"), / @?bob /);
  await registerAgent(program, "scout", { channels: ["later"] });
  await guest.expect(/^:\S+ MODE #Later -o guest$/);
  await guest.expect(/^:\S+ MODE #Later -o bob$/);
  await bob.send("PART #later");
  await bob.expect(/ PART #Later$/);
  assert.match(await membersAfterJoin(bob, "#later"), / bob /);
  await guest.send("MODE #later +k key");
  await guest.expect(/ 482 /);
});
