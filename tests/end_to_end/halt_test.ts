/** The stop button of the real program, from outside. */
import assert from "node:assert/strict";
import { registerAgent } from "../support/api.ts";
import { run, succeed } from "../support/commands.ts";
import { IrcClient } from "../support/irc_client.ts";
import { startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

Deno.test("muster halt stops agents everywhere, survives kill -9, and muster resume ends it", async () => {
  await withFolder(async (folder) => {
    let passphrase = "";
    {
      await using program = await startProgram({ folder });
      ({ passphrase } = await registerAgent(program, "scout"));
      await registerAgent(program, "second");
      await using irc = await IrcClient.connect(program.irc);
      await irc.register({ nick: "scout", password: passphrase });
      assert.match(await succeed(program, "halt", "Wrong", "branch"), /^All agents are halted/);
      await irc.expect(/NOTICE \S+ :Halted by operator: all agents\. Reason: Wrong branch/);
      await irc.send("JOIN #general", "PRIVMSG #general :hello");
      await irc.expect(/ 404 scout #general :All agents are halted: Wrong branch/);
      await program.stop("SIGKILL");
    }
    await using program = await startProgram({ folder });
    await using irc = await IrcClient.connect(program.irc);
    await irc.register({ nick: "scout", password: passphrase });
    await irc.send("JOIN #general", "PRIVMSG #general :hello");
    await irc.expect(/ 404 scout #general :All agents are halted: Wrong branch/);
    const posted = await fetch(`${program.api}/v1/channels/general/messages`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`scout:${passphrase}`)}` },
      body: JSON.stringify({ text: "hello" }),
    });
    assert.equal(posted.status, 423);
    assert.match((await posted.json()).error, /Wrong branch/);
    const metrics = await fetch(`${program.api}/v1/metrics`, {
      headers: { authorization: `Bearer ${program.token}` },
    });
    assert.match(await metrics.text(), /^muster_agents_halted 2$/m);
    const spoken = await succeed(program, "send", "general", "people go on");
    assert.equal(spoken, "");

    assert.match(await succeed(program, "status"), /^halted +2 agents: "muster resume"/m);
    assert.equal(
      await succeed(program, "resume", "--agents", "scout"),
      "All agents are halted, except:\n  scout: goes on\nHalted now: 1\n",
    );
    assert.match(await succeed(program, "status"), /^halted +1 agent: /m);
    await irc.send("PRIVMSG #general :back");
    await irc.send("PING done");
    assert.doesNotMatch(await irc.expect(/ 404 | PONG /), / 404 /);
    assert.match(await succeed(program, "resume"), /^Agents go on\.\nHalted now: 0$/m);
    assert.doesNotMatch(await succeed(program, "status"), /halted/);
    assert.match(
      await succeed(program, "halt", "--agents", "second"),
      /^Agents go on, except:\n {2}second: halted\nHalted now: 1$/m,
    );
    // A change of one slot keeps the others.
    await succeed(program, "agent", "slots", "scout", "--claims", "2");
    const slots = await succeed(program, "agent", "slots", "scout", "--calls", "3", "--json");
    assert.deepEqual(JSON.parse(slots).own, {
      claims: 2,
      workspaces: null,
      reviews: null,
      calls: 3,
    });
    const wrong = await run(program, "halt", "--agents", "nobody");
    assert.deepEqual([wrong.code, /nobody/.test(wrong.stderr)], [1, true]);
  });
});
