import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { run, succeed } from "../support/commands.ts";
import { musterCommand, runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { within } from "../support/until.ts";

Deno.test("policies are read and set from the command line and take effect at once", async () => {
  await using program = await startProgram();
  assert.equal(await succeed(program, "policy", "set", "oracle.backend", "main"), "");
  await succeed(program, "policy", "set", "oracle.enabled", "true");
  assert.deepEqual(JSON.parse(await succeed(program, "policy", "get", "oracle")), {
    enabled: true,
    backend: "main",
  });
  await succeed(program, "policy", "set", "oracle.backend", "null");
  const absent = await run(program, "policy", "get", "oracle.backend");
  assert.deepEqual([absent.code, absent.stdout], [1, ""]);
  const whole = await run(program, "policy", "set", "shepherd", "channels=foo");
  assert.match(
    whole.stderr,
    /"shepherd" is a bot, .*: muster policy set shepherd\.channels foo\n$/,
  );
  const wrong = await run(program, "policy", "set", "warden.burst", "many");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /warden\.burst/);

  const users = async () => {
    const answer = await call(program, "GET", "/v1/channels/general/users");
    const names: string[] = await answer.json();
    return names.filter((name) => name !== "oracle");
  };
  await call(program, "POST", "/v1/channels/general/presence", { nick: "ann" });
  assert.deepEqual(await users(), ["ann", "bridge"]);
  await succeed(program, "policy", "set", "bridge.web_user_ttl_minutes", "0.000001");
  assert.deepEqual(await users(), ["bridge"]);
});

Deno.test("without the policy store, the API explains why there are no settings", async () => {
  await using program = await startProgram({ environment: { MUSTER_POLICIES_ENABLED: "false" } });
  const response = await call(program, "GET", "/v1/settings/policies");
  assert.equal(response.status, 404);
  assert.match((await response.json()).error, /policies\.enabled/);
});

Deno.test("log prints past events of IRC and HTTP, and follows new ones", async () => {
  await using program = await startProgram();
  const { passphrase } = await registerAgent(program, "scout", { type: "orchestrator" });
  await using scout = await IrcClient.connect(program.irc);
  await scout.register({ nick: "scout", password: passphrase });
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  await scout.join("#ops");
  await scout.send("MODE #ops +k planted-key", "MODE #ops +b bad!*@*");
  await scout.expect(/ MODE #ops \+b /);
  await ann.send("JOIN #ops planted-key");
  await ann.expect(/ 366 /);
  await scout.send("KICK #ops ann :planted words");
  await ann.expect(/ KICK #ops ann /);

  const follower = musterCommand(["log", "-f", "-n", "3", "--types", "irc.*,policy.*,program.*"], {
    cwd: program.folder,
    env: { MUSTER_URL: program.api, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = follower.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readTo = async (pattern: RegExp) => {
    while (!pattern.test(text)) {
      const { value, done } = await within(reader.read(), () => `${pattern} in ${text}`);
      assert.ok(!done, text);
      text += value;
    }
  };
  await readTo(/kicked.*\n/);
  Deno.kill(program.pid, "SIGHUP");
  await readTo(/program\.reloaded {2}system {2}keys=\[\]\n/);
  assert.equal((await run(program, "policy", "set", "a\u009b31mb.enabled", "true")).code, 1);
  await succeed(program, "policy", "set", "scroll.max_lines", "7");
  await readTo(/scroll.*\n/);
  follower.kill("SIGINT");
  await follower.status;
  await reader.cancel();
  const origin = "agent:scout from 127\\.0\\.0\\.1";
  assert.match(text, new RegExp(`^\\d+  \\S+Z  irc\\.modes_changed  ${origin}  .*\\+k \\*`));
  assert.match(text, new RegExp(`irc\\.kicked  ${origin}  channel=#ops nick=ann\n`));
  assert.match(
    text,
    /policy\.changed {2}operator from 127\.0\.0\.1 {2}keys=\["scroll\.max_lines"\]\n$/,
  );

  const all = await succeed(program, "log", "--after", "0", "--json");
  const events: { seq: number; type: string }[] = all.trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1));
  assert.equal(events[0]?.type, "program.started");
  assert.ok(!/planted|\u009b/.test(all + text));
});

Deno.test("doctor log verifies the log of a running, a stopped and a killed program, and finds changes", async () => {
  await withFolder(async (folder) => {
    const doctor = () => runMuster(["doctor", "log"], { folder });
    {
      await using program = await startProgram({ folder });
      const writing = Promise.all(
        Array.from({ length: 30 }, (_, index) => registerAgent(program, `agent-${index}`)),
      );
      const checked = await doctor();
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      await writing;
      await program.stop();
    }
    const stopped = await doctor();
    assert.match(stopped.stdout, /^events {2}\d+\nfrom {4}1\nto {6}\d+\nhash {4}[0-9a-f]{64}\n$/);
    assert.equal(stopped.code, 0);
    {
      await using program = await startProgram({ folder });
      await registerAgent(program, "another");
      await program.stop("SIGKILL");
    }
    const killed = await doctor();
    assert.equal(killed.code, 0, killed.stdout);

    const database = new DatabaseSync(join(folder, "data", "muster.db"));
    database.exec("UPDATE events SET actor = 'nobody' WHERE seq = 5");
    database.exec("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)");
    database.close();
    const spoilt = await doctor();
    assert.equal(spoilt.code, 1);
    assert.match(spoilt.stdout, /^Row 5 is not as it was written\nRow \d+ is missing at the end/);
    await using program = await startProgram({ folder });
    await registerAgent(program, "later");
    await until(() => program.log.some((line) => /event log was damaged/.test(line)));
    assert.match((await doctor()).stdout, /muster found the log damaged/);
  });
});
