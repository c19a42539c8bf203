/** Clients for terminals, as people use them: log in, join, read what was said, talk. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { makeCertificate } from "../support/certificate.ts";
import { IrcClient } from "../support/irc_client.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { withFolder, writeFile } from "../support/temporary.ts";
import { Terminal } from "../support/terminal.ts";

/** Registers the agent "ann"; gives what muster prints for its client. */
async function registerAnn(
  { folder, api }: Program,
  client: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runMuster(
    ["agent", "register", "ann", "--type", "observer", "--channels", "general", "--client", client],
    { folder, environment: { MUSTER_URL: api, ...environment } },
  );
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The lines to be typed into the client. */
function commandsIn(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("  /")).map((line) => line.trim());
}

/** WeeChat, which takes lines that come at once for a paste and asks about it unless told not to. */
async function openWeeChat({ folder }: Program): Promise<Terminal> {
  const terminal = await Terminal.open(folder, `weechat --dir '${join(folder, "weechat")}'`);
  await terminal.expect("Plugins loaded");
  await terminal.type("/set weechat.look.paste_max_lines -1");
  await terminal.expect("weechat.look.paste_max_lines = -1");
  return terminal;
}

/** Somebody else in the channel, with a plain client. */
async function joinAsBob({ irc }: Program): Promise<IrcClient> {
  const bob = await IrcClient.connect(irc);
  await bob.register({ nick: "bob" });
  await bob.join("#general");
  await bob.send("PRIVMSG #general :said before");
  return bob;
}

/** What was said before ann came is on the screen, what ann types is told to bob, and what bob says is on the screen. */
async function converse(bob: IrcClient, terminal: Terminal): Promise<void> {
  await terminal.expect("said before");
  await terminal.type("hello from a terminal");
  await bob.expect(/^:ann!\S+ PRIVMSG #general :hello from a terminal$/);
  await bob.send("PRIVMSG #general :hello terminal");
  await terminal.expect("hello terminal");
}

Deno.test({
  name: "irssi logs in with the lines that muster prints, joins, shows history, and talks",
  ignore: peer("irssi").ignore || peer("tmux").ignore,
  fn: async () => {
    await using program = await startProgram();
    await using bob = await joinAsBob(program);
    const commands = commandsIn(await registerAnn(program, "irssi"));
    const home = join(program.folder, "irssi");
    await using terminal = await Terminal.open(program.folder, `irssi --home='${home}'`);
    await terminal.expect("Irssi");
    for (const command of commands) await terminal.type(command);
    await terminal.expect("SASL authentication succeeded");
    await terminal.expect("[Act: 2]");
    await terminal.type("/window 2");
    await terminal.expect("2:muster/#general(+nt)");
    await converse(bob, terminal);
  },
});

Deno.test({
  name: "WeeChat logs in with the lines that muster prints, joins, shows history, and talks",
  ignore: peer("weechat").ignore || peer("tmux").ignore,
  fn: async () => {
    await using program = await startProgram();
    await using bob = await joinAsBob(program);
    const commands = commandsIn(await registerAnn(program, "weechat"));
    await using terminal = await openWeeChat(program);
    for (const command of commands) await terminal.type(command);
    await terminal.expect("2:#general(+nt)");
    await converse(bob, terminal);
  },
});

Deno.test({
  name: "WeeChat proves its passphrase by SCRAM-SHA-256 instead of sending it",
  ignore: peer("weechat").ignore || peer("tmux").ignore,
  fn: async () => {
    await using program = await startProgram();
    const commands = commandsIn(await registerAnn(program, "weechat"));
    const connect = commands.findIndex((command) => command.startsWith("/connect"));
    commands.splice(connect, 0, "/set irc.server.muster.sasl_mechanism scram-sha-256");
    await using terminal = await openWeeChat(program);
    for (const command of commands) await terminal.type(command);
    await terminal.expect("2:#general(+nt)");
    await terminal.type("/eval /print It logged in by ${irc.server.muster.sasl_mechanism}");
    await terminal.expect("It logged in by scram-sha-256");
  },
});

Deno.test({
  name: "catgirl logs in over TLS, joins, shows history, and talks",
  ignore: peer("catgirl").ignore || peer("tmux").ignore || peer("openssl").ignore,
  fn: async () => {
    await withFolder(async (folder) => {
      await makeCertificate(folder);
      await using program = await startProgram({
        folder,
        config: "irc: { tls_listen: 127.0.0.1:0 }\ntls: { cert: tls.crt, key: tls.key }\n",
      });
      await using bob = await joinAsBob(program);
      const trust = join(folder, "tls.crt");
      const printed = await registerAnn(program, "irssi", { DENO_CERT: trust });
      const [passphrase] = /[0-9a-f]{64}/.exec(printed) ?? [];
      const { port } = new URL(program.ircs ?? "");
      const settings = {
        host: "localhost",
        port,
        nick: "ann",
        "sasl-plain": `ann:${passphrase}`,
        trust,
        join: "#general",
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
      await writeFile(folder, "catgirl.conf", lines.join(""));
      const command = `catgirl '${join(folder, "catgirl.conf")}'`;
      await using terminal = await Terminal.open(folder, command);
      await terminal.expect("@bridge");
      await converse(bob, terminal);
    });
  },
});
