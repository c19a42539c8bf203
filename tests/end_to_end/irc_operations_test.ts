import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { run, succeed } from "../support/commands.ts";
import { IrcClient } from "../support/irc_client.ts";
import { runMuster, startProgram } from "../support/program.ts";

const PASSWORD = "correct horse";

Deno.test("clients are listed, banned and unbanned from the command line", async () => {
  await using program = await startProgram();
  await call(program, "POST", "/v1/irc/accounts", { account: "eve", password: PASSWORD });
  await using eve = await IrcClient.connect(program.irc);
  await eve.register({ nick: "eve", password: PASSWORD });
  await eve.join("#general");
  const listed = await succeed(program, "irc", "clients");
  assert.match(listed, /^NICK +ACCOUNT +ADDRESS +TRANSPORT +SINCE +IDLE +CHANNELS +QUEUED$/m);
  assert.match(listed, /^eve +eve +127\.0\.0\.1 +tcp +20\S+Z +\d+ s +1 +0$/m);
  const clients = JSON.parse(await succeed(program, "irc", "clients", "--json"));
  const shown = clients.find(({ nick }: { nick: string }) => nick === "eve");
  assert.match(shown.host, /^[0-9a-f]+\.ip$/);

  const ban = ["irc", "ban", "account:eve", "--reason", "flooding", "--for", "1d12h"];
  assert.match(await succeed(program, ...ban), /^account:eve is banned until 20\S+Z\n$/);
  await eve.expect(/^:\S+ 465 eve :You are banned: flooding$/);
  await eve.ended();
  await using again = await IrcClient.connect(program.irc);
  await assert.rejects(again.register({ nick: "eve", password: PASSWORD }));
  assert.ok(again.lines.some((line) => / 465 \* :You are banned: flooding$/.test(line)));
  assert.match(await succeed(program, "irc", "list"), /^account:eve +operator +20.* flooding$/m);
  const figures = await (await call(program, "GET", "/v1/metrics")).text();
  assert.match(figures, /^muster_llm_calls_unrecorded_total 0$/m);
  assert.match(figures, /^muster_irc_ban_hits_total 2$/m);
  assert.match(figures, /^muster_irc_connections\{transport="internal"\} 1$/m);

  await succeed(program, "irc", "unban", "account:EVE");
  await using back = await IrcClient.connect(program.irc);
  await back.register({ nick: "eve", password: PASSWORD });
  const absent = await run(program, "irc", "unban", "account:eve");
  assert.deepEqual([absent.code, absent.stderr], [
    1,
    `There is no such ban (from ${program.api})\n`,
  ]);
  const wide = await run(program, "irc", "ban", "*@*");
  assert.equal(wide.code, 1);
  assert.match(wide.stderr, /far too wide/);
  assert.equal((await run(program, "irc", "ban", "a@b.c", "--for", "soon")).code, 2);
  const log = await succeed(program, "log", "--types", "irc.banned,irc.unbanned", "--json");
  const types = log.trim().split("\n").map((line) => JSON.parse(line).type);
  assert.deepEqual(types, ["irc.banned", "irc.unbanned"]);
});

Deno.test("an admin is an operator of IRC, whose KILL and KLINE are logged as the admin's", async () => {
  await using program = await startProgram();
  const passwd = await runMuster(["admin", "passwd", "admin", "--password-stdin"], {
    folder: program.folder,
    environment: { MUSTER_URL: program.api },
    stdin: PASSWORD,
  });
  assert.equal(passwd.code, 0, passwd.stderr);
  await using operator = await IrcClient.connect(program.irc);
  await operator.register({ nick: "root" });
  await operator.send(`OPER admin :${PASSWORD}`);
  await operator.expect(/ 381 root /);
  await using victim = await IrcClient.connect(program.irc);
  await victim.register({ nick: "victim" });
  await operator.send("KILL victim :enough");
  await victim.ended();
  await operator.send("KLINE 2h victim!*@* :and stay out", "STATS k");
  await operator.expect(/NOTICE root :victim!\*@\* is banned .* for 120 minutes$/);
  await operator.expect(/ 216 root K victim!\*@\* :and stay out \(by admin:admin, until /);
  await operator.send("UNKLINE victim!*@*");
  await operator.expect(/is banned no longer/);
  const types = "types=irc.killed,irc.banned,irc.unbanned";
  const { events } = await (await call(program, "GET", `/v1/events?${types}`)).json();
  const told = events.map(({ type, actor, data: { nick, mask, reason } }: {
    type: string;
    actor: string;
    data: Record<string, string>;
  }) => [type, actor, nick ?? mask, reason]);
  assert.deepEqual(told, [
    ["irc.killed", "admin:admin", "victim", "enough"],
    ["irc.banned", "admin:admin", "victim!*@*", "and stay out"],
    ["irc.unbanned", "admin:admin", "victim!*@*", undefined],
  ]);
});

Deno.test("agents get rates and budgets from the command line", async () => {
  await using program = await startProgram();
  await succeed(program, "agent", "register", "scout");
  const rate = async () =>
    JSON.parse(await succeed(program, "agent", "list", "--json"))[0].rate_limit;
  await succeed(program, "agent", "rate", "scout", "2.5");
  assert.deepEqual(await rate(), { messages_per_second: 2.5, burst: 3 });
  await succeed(program, "agent", "rate", "scout", "1", "--burst", "20");
  assert.deepEqual(await rate(), { messages_per_second: 1, burst: 20 });
  await succeed(program, "agent", "rate", "scout", "--none");
  assert.equal(await rate(), null);
  for (const wrong of [["scout"], ["scout", "2", "--none"], ["scout", "fast"]]) {
    assert.equal((await run(program, "agent", "rate", ...wrong)).code, 2, wrong.join(" "));
  }
  const budget = ["llm", "budget", "set", "agent.scout.day"];
  await succeed(program, ...budget, "--cost", "0.25", "--tokens", "5000000");
  assert.match(
    await succeed(program, "llm", "budget", "list"),
    /^agent\.scout\.day +0\.00 of 0\.25 +0 of 5000000 +80% +open$/m,
  );
  await succeed(program, "llm", "budget", "remove", "agent.scout.day");
  assert.equal(await succeed(program, "llm", "budget", "list", "--json"), "[]\n");
  for (const wrong of [[], ["--cost", "-1"], ["--tokens", "1.5"]]) {
    assert.equal((await run(program, ...budget, ...wrong)).code, 2, wrong.join(" "));
  }
});
