import assert from "node:assert/strict";
import { registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { run, succeed } from "../support/commands.ts";
import { musterCommand, musterWords, runMuster, startProgram } from "../support/program.ts";
import { peer } from "../support/peers.ts";
import { Terminal } from "../support/terminal.ts";
import { withFolder } from "../support/temporary.ts";
import { within } from "../support/until.ts";

Deno.test("agents are registered, listed, rotated, revoked and deleted from the command line", async () => {
  await using program = await startProgram();
  const registered = await succeed(
    program,
    "agent",
    "register",
    "scout",
    "--channels",
    "general,#ops",
  );
  const passphrase = /^passphrase +([0-9a-f]{64})$/m.exec(registered)?.[1];
  assert.ok(passphrase);
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "scout", password: passphrase });

  assert.match(await succeed(program, "agent", "list"), /^scout +worker +idle .*#general #ops$/m);
  const rotated = JSON.parse(await succeed(program, "agent", "rotate", "scout", "--json"));
  assert.notEqual(rotated.credentials.passphrase, passphrase);
  await irc.ended();

  await succeed(program, "agent", "revoke", "scout");
  assert.match(await succeed(program, "agent", "list"), /^scout +worker +revoked/m);
  await succeed(program, "agent", "delete", "scout");
  assert.deepEqual(JSON.parse(await succeed(program, "agent", "list", "--json")), []);

  const absent = await run(program, "agent", "revoke", "scout");
  assert.equal(absent.code, 1);
  assert.match(absent.stderr, /scout/);
  const wrong = await run(program, "agent", "register", "no nick");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /nick/);
});

Deno.test("scripts ask people from the command line, and people answer", async () => {
  await using program = await startProgram();
  const ask = ["question", "ask", "Release", "it?", "--choices", "yes, no", "--deadline", "600"];
  assert.equal(await succeed(program, ...ask, "--default", "no"), "Question 1 is open\n");
  assert.match(
    await succeed(program, "question", "list"),
    /^1 +operator +yes \/ no +Release it\?$/m,
  );
  assert.match(
    await succeed(program, "needs"),
    /^question\/1 +admins +operator asks .*Release it/m,
  );
  const open = await succeed(program, "question", "show", "1");
  assert.match(open, /^question +Release it\?\nasker +operator\nstate +open\nchoices +yes \/ no\n/);
  assert.equal(await succeed(program, "question", "answer", "1", "YES"), "yes\n");
  const shown = await succeed(program, "question", "show", "1", "--wait");
  assert.match(shown, /\nstate +answered\n.*\nanswer +yes\nby +operator\n$/s);
  await succeed(program, "question", "ask", "Never mind?");
  const withdrawn = await succeed(program, "question", "withdraw", "2");
  assert.equal(withdrawn, "Question 2 is withdrawn\n");
  const late = await run(program, "question", "answer", "1", "no");
  assert.equal(late.code, 1);
  assert.match(late.stderr, /Question 1 is answered by operator already: yes/);
});

Deno.test("tickets are filed, listed, shown and changed from the command line", async () => {
  await using program = await startProgram();
  await registerAgent(program, "scout");
  await succeed(program, "project", "create", "demo");
  await succeed(program, "project", "member", "add", "demo", "scout", "write");
  const create = ["ticket", "create", "demo"];
  assert.equal(await succeed(program, ...create, "Dig"), "Ticket 1 is filed\n");
  const given = ["--blocked-by", "1", "--assignee", "scout", "--labels", "house,big one"];
  assert.equal(await succeed(program, ...create, "Build", ...given), "Ticket 2 is filed\n");
  const list = ["ticket", "list", "demo"];
  const row = /^#2 +Open +scout +yes +house, big one +Build$/m;
  assert.match(await succeed(program, ...list, "--label", "house"), row);
  assert.doesNotMatch(await succeed(program, ...list, "--blocked", "false"), /Build/);
  const circle = await run(program, "ticket", "edit", "demo", "1", "--blocked-by", "2");
  assert.equal(circle.code, 1);
  assert.match(circle.stderr, /they would wait in a circle/);
  const close = ["--status", "Closed", "--comment", "Dug\nout"];
  const changed = await succeed(program, "ticket", "edit", "demo", "#1", ...close);
  assert.equal(changed, "Ticket 1 is changed\n");
  assert.match(await succeed(program, "ticket", "show", "demo", "1"), / operator: Dug/);
  const shown = await succeed(program, "ticket", "show", "demo", "2");
  assert.match(shown, /^labels +house, big one\nblocked by +#1$/m);
  assert.doesNotMatch(await succeed(program, ...list), /Dig/);
});

Deno.test("account add makes an account that logs in, and prints how", async () => {
  await using program = await startProgram();
  const output = await succeed(program, "account", "add", "ann");
  const password = /^password +(\S+)$/m.exec(output)?.[1];
  assert.ok(password);
  for (const client of ["irssi", "WeeChat", "HexChat"]) {
    assert.match(output, new RegExp(`^In ${client}`, "m"));
  }
  assert.match(output, /^ {2}\/channel add -auto #general muster$/m);
  assert.match(output, /^ {2}\/set irc\.server\.muster\.autojoin #general$/m);
  assert.match(output, /^ {2}Autojoin channels: #general$/m);
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "ann", password });

  const chosen = await runMuster(
    ["account", "add", "bob", "--password-stdin", "--client", "irssi"],
    {
      folder: program.folder,
      environment: { MUSTER_URL: program.api },
      stdin: "correct horse\n",
    },
  );
  assert.equal(chosen.code, 0, chosen.stderr);
  assert.ok(!chosen.stdout.includes("correct horse"));
  await using bob = await IrcClient.connect(program.irc);
  await bob.register({ nick: "bob", password: "correct horse" });

  const replaced = await succeed(program, "account", "passwd", "bob");
  for (const line of ["account +bob", "In irssi:", "In WeeChat:", "In HexChat .*:"]) {
    assert.match(replaced, new RegExp(`^${line}$`, "m"));
  }
  await bob.ended();
  await using again = await IrcClient.connect(program.irc);
  await again.register({ nick: "bob", password: /^password +(\S+)$/m.exec(replaced)?.[1] ?? "" });

  assert.match(await succeed(program, "account", "list"), /^ann .*\nbob /m);
  await succeed(program, "agent", "adopt", "bob", "--type", "observer", "--channels", "ops");
  assert.match(await succeed(program, "agent", "list"), /^bob +observer +idle .*#ops$/m);
  await succeed(program, "account", "delete", "ann");
  await irc.ended();
});

Deno.test("send posts a message and tail prints it, its control characters made visible", async () => {
  await using program = await startProgram();
  await registerAgent(program, "scout");
  await succeed(program, "send", "#general", "first", "--nick", "ann");
  const tail = musterCommand(["tail", "#general"], {
    cwd: program.folder,
    env: { MUSTER_URL: program.api, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = tail.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readTo = async (end: string) => {
    while (!text.includes(end)) {
      const { value, done } = await within(reader.read(), () => `"${end}"`);
      assert.ok(!done);
      text += value;
    }
  };
  await readTo("first\n");
  await succeed(program, "send", "general", "a", "\x02bold\x02", "word");
  await readTo("word\n");
  tail.kill("SIGINT");
  await tail.status;
  await reader.cancel();
  assert.match(
    text,
    /^\d\d:\d\d:\d\d <ann> first\n\d\d:\d\d:\d\d <bridge> a \u2402bold\u2402 word\n$/,
  );
});

Deno.test("neither JSON nor an error commands the terminal", async () => {
  await using program = await startProgram();
  // deno-lint-ignore no-control-regex
  const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "ann" });
  await irc.join("#general");
  await irc.send("PRIVMSG #general :\x9b2J");
  await irc.send("PING :said");
  await irc.expect(/PONG \S+ :?said$/);
  const shown = await succeed(program, "channel", "show", "general", "--json");
  assert.doesNotMatch(shown, controls);
  assert.equal(JSON.parse(shown).messages.at(-1).text, "\x9b2J");
  const refused = await run(program, "agent", "show", "\x1b[2J\x9b2J");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^There is no agent "\u241b\[2J\ufffd2J" .*\n$/);
});

Deno.test("health reports whether the server is up", async () => {
  const program = await startProgram();
  try {
    assert.equal(await succeed(program, "health"), "ok\n");
    await program.stop();
    const down = await run(program, "health");
    assert.equal(down.code, 1);
    assert.match(down.stderr, /is it running\?/);
  } finally {
    await program[Symbol.asyncDispose]();
  }
});

Deno.test("config check accepts the configuration of the repository, and hash-password makes a hash", async () => {
  await withFolder(async (folder) => {
    const file = new URL("../../config.example.yaml", import.meta.url).pathname;
    const free = "127.0.0.1:0";
    const environment = {
      MUSTER_API_ADDR: free,
      MUSTER_MCP_ADDR: free,
      MUSTER_IRC_LISTEN: free,
    };
    const checked = await runMuster(["config", "check", "--config", file], { folder, environment });
    assert.deepEqual([checked.code, checked.stdout], [0, "The configuration is valid\n"]);
    const hashed = await runMuster(["hash-password"], { folder, stdin: "correct horse\n" });
    assert.match(hashed.stdout, /^\$argon2id\$v=19\$/);
  });
});

Deno.test("agents are shown with their inboxes, and revoking one twice is no error", async () => {
  await using program = await startProgram();
  await succeed(program, "agent", "add", "scout", "--channels", "general");
  await succeed(program, "send", "general", "@scout: look", "--nick", "ann");

  assert.match(await succeed(program, "agent", "show", "scout"), /^channels +#general$/m);
  const shown = JSON.parse(await succeed(program, "agent", "show", "scout", "--json"));
  assert.deepEqual([shown.nick, shown.type], ["scout", "worker"]);
  const inbox = await succeed(program, "agent", "inbox", "scout", "--wait", "10");
  assert.match(inbox, /^[-\d]{10} [:\d]{5} <ann in #general> @scout: look\n$/);
  const [message] = JSON.parse(await succeed(program, "agent", "inbox", "scout", "--json"));
  assert.equal(message.text, "@scout: look");

  await succeed(program, "agent", "revoke", "scout");
  const again = await run(program, "agent", "revoke", "scout");
  assert.deepEqual([again.code, again.stdout], [0, ""]);
  assert.match(again.stderr, /"scout" was revoked before/);

  await succeed(program, "agent", "add", "builder");
  const { id } = JSON.parse(await succeed(program, "token", "add", "builder", "--json"));
  for (const verb of ["remove", "revoke"]) await succeed(program, "token", verb, id);
  const wrong = await run(program, "token", "remove", "nothing");
  assert.equal(wrong.code, 1);
  assert.ok(wrong.stderr.includes(program.api), wrong.stderr);
});

Deno.test("channels and the status are shown, as text and as JSON", async () => {
  await using program = await startProgram();
  await succeed(program, "send", "general", "hello", "--nick", "ann");
  assert.equal(await succeed(program, "channel", "list"), "#general\n");
  const text = await succeed(program, "channel", "show", "#general");
  assert.match(text, /^channel +#general\nusers +ann bridge\n\n.* <ann> hello\n$/);
  const shown = JSON.parse(await succeed(program, "channel", "show", "general", "--json"));
  assert.equal(shown.messages[0].text, "hello");
  assert.match(await succeed(program, "status"), /^status +ok\nserver +http/);
  assert.equal(JSON.parse(await succeed(program, "status", "--json")).status, "ok");

  const added = await succeed(program, "herald", "add", "code", "github");
  assert.match(added, /^path +\/webhooks\/code\nsecret +whsec_\S+\n\n.*only once/);
  const sources = await succeed(program, "herald", "list");
  assert.match(sources, /^NAME +KIND +PATH\ncode +github +\/webhooks\/code\n$/);
  await succeed(program, "herald", "remove", "code");
  const early = await run(program, "herald", "announce", "--type", "deploy", "Done");
  assert.match(early.stderr, /The bot herald is not enabled/);
});

Deno.test("--data-dir finds the server that runs with that folder", async () => {
  await using program = await startProgram();
  await withFolder(async (folder) => {
    const folderOption = ["--data-dir", `${program.folder}/data`];
    const found = await runMuster([...folderOption, "status", "--json"], { folder });
    assert.equal(found.code, 0, found.stderr);
    await program.stop();
    const down = await runMuster(["status", ...folderOption], { folder });
    assert.deepEqual(
      [down.code, down.stderr],
      [1, `No muster answers at ${program.api}; is it running?\n`],
    );
  });
});

Deno.test("a server that hangs up is not reported as absent", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const hangingUp = (async () => {
    for await (const conn of listener) conn.close();
  })();
  await withFolder(async (folder) => {
    const url = `http://127.0.0.1:${port}`;
    const environment = { MUSTER_TOKEN: "0".repeat(64) };
    const answer = await runMuster(["status", "--url", url], { folder, environment });
    assert.equal(answer.stderr, `The connection to ${url} broke off before the answer\n`);
    assert.equal(answer.code, 1);
  });
  listener.close();
  await hangingUp;
});

Deno.test("policies without effect cause warnings on standard error", async () => {
  await using program = await startProgram();
  const { code, stdout, stderr } = await run(program, "policy", "set", "bridge.enabeld", "true");
  assert.deepEqual([code, stdout], [0, ""]);
  assert.match(stderr, /^warning: .*enabeld/);
});

Deno.test("old verbs still work and are not listed", async () => {
  await using program = await startProgram();
  await succeed(program, "agent", "register", "scout");
  await succeed(program, "agent", "delete", "scout");
  await succeed(program, "irc", "ban", "192.0.2.1");
  assert.match(await succeed(program, "ban", "list"), /^192\.0\.2\.1/m);
  await succeed(program, "irc", "unban", "192.0.2.1");
  assert.doesNotMatch(await succeed(program, "agent", "--help"), /register <|delete/);
  assert.doesNotMatch(await succeed(program, "--help"), /^ {2}irc/m);
});

Deno.test({
  name: "tables fit the width of the terminal",
  ignore: peer("tmux").ignore,
  fn: async () => {
    await using program = await startProgram();
    const channels = Array.from({ length: 20 }, (_, index) => `channel-number-${index}`);
    await succeed(program, "agent", "add", "scout", "--channels", channels.join(","));
    const piped = await succeed(program, "agent", "list");
    assert.match(piped, /#channel-number-19/);
    const muster = musterWords().map((word) => `'${word}'`).join(" ");
    const command = `cd '${program.folder}'; stty cols 100; MUSTER_URL=${program.api} ${muster}`;
    await withFolder(async (folder) => {
      await using terminal = await Terminal.open(folder, `${command} agent list; echo done; cat`);
      await terminal.expect("done");
      const screen = await terminal.screen();
      // One line of at most 100 characters, whatever else the terminal shows.
      const row = screen.split("\n").find((line) => line.startsWith("scout ")) ?? screen;
      assert.match(row, /^scout .*…$/);
      assert.ok(row.length <= 100, row);
      assert.doesNotMatch(screen, /#channel-number-19/);
    });
  },
});
