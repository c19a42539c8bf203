import assert from "node:assert/strict";
import fc from "fast-check";
import type { ObservedActor } from "../../../../services/engines/irc/mod.ts";
import type { TestClient } from "./support/client.ts";
import { startServer, TestAccounts } from "./support/server.ts";

const RENAME = "draft/channel-rename";

async function join(client: TestClient, channel = "#old"): Promise<void> {
  client.send(`JOIN ${channel}`);
  await client.sync();
}

Deno.test("a renamed channel keeps its state, and every client follows in the form that it supports", async () => {
  const renamed: string[] = [];
  const channelRenamed = (event: { actor: ObservedActor; channel: string; to: string }) =>
    void renamed.push(`${event.actor.nick}: ${event.channel} ${event.to}`);
  await using server = startServer({ observer: { channelRenamed } });
  const op = await server.client("op", RENAME);
  const aware = await server.client("aware", RENAME);
  const plain = await server.client("plain");
  const extended = await server.client("extended", "extended-join no-implicit-names");
  const all = [op, aware, plain, extended];
  for (const client of all) await join(client);
  op.send("TOPIC #old :news", "MODE #old +m", "MODE #old +v plain");
  for (const client of [op, ...all]) await client.sync();
  op.send("RENAME #OLD #new :a better name", "MODE #new", "MODE #old");
  const change = "op RENAME #old #new a better name";
  assert.deepEqual((await op.sync()).filter((line) => !line.startsWith("329")), [
    change,
    "324 op #new +mnt",
    "403 op #old No such channel",
  ]);
  assert.deepEqual(await aware.sync(), [change]);
  const shown = (await plain.sync()).map((line) => line.replace(/^(333 plain #new).*/, "$1"));
  assert.deepEqual(shown, [
    "plain PART #old a better name",
    "plain JOIN #new",
    "332 plain #new news",
    "333 plain #new",
    "353 plain = #new @op aware +plain extended",
    "366 plain #new End of /NAMES list",
  ]);
  const brief = await extended.sync();
  assert.deepEqual(brief.slice(0, 3), [
    "extended PART #old a better name",
    "extended JOIN #new * Real extended",
    "332 extended #new news",
  ]);
  assert.equal(brief.length, 4);
  plain.send("PRIVMSG #new :still voiced", "JOIN #old", "MODE #old +k beer");
  assert.ok((await plain.sync()).includes("plain MODE #old +k beer"), "#old is another channel");
  assert.deepEqual(await aware.sync(), ["plain PRIVMSG #new still voiced"]);
  assert.deepEqual(renamed, ["op: #old #new"]);
});

Deno.test("the history and the read markers of a channel follow its name", async () => {
  const accounts = new TestAccounts({ ann: "secret" });
  await using server = startServer({ accounts });
  const capabilities = `${RENAME} batch message-tags draft/chathistory draft/event-playback ` +
    "draft/read-marker";
  const ann = await server.member("ann", "secret", capabilities);
  await join(ann);
  const marker = "timestamp=2020-01-01T00:00:00.000Z";
  ann.send("PRIVMSG #old :one", "TOPIC #old :news", `MARKREAD #old ${marker}`);
  ann.send("RENAME #old #new", "PRIVMSG #new :two");
  await ann.sync();
  ann.send("CHATHISTORY LATEST #new * 10", "MARKREAD #new", "MARKREAD #old");
  const lines = (await ann.sync()).filter((line) => !line.startsWith("BATCH"));
  assert.deepEqual(lines, [
    "ann JOIN #new",
    "ann PRIVMSG #new one",
    "ann TOPIC #new news",
    "ann PRIVMSG #new two",
    `MARKREAD #new ${marker}`,
    "MARKREAD #old *",
  ]);
});

Deno.test("a change of case makes nobody leave", async () => {
  await using server = startServer();
  const op = await server.client("op", RENAME);
  const plain = await server.client("plain");
  for (const client of [op, plain]) await join(client);
  await op.sync();
  op.send("RENAME #old #Old", "RENAME #old #OLD");
  assert.deepEqual(await op.sync(), ["op RENAME #old #Old", "op RENAME #Old #OLD"]);
  assert.deepEqual(await plain.sync(), []);
  plain.send("PRIVMSG #old :hi");
  await plain.sync();
  assert.deepEqual(await op.sync(), ["plain PRIVMSG #OLD hi"]);
});

Deno.test("users without the right cannot rename, and some channels keep their names", async () => {
  let now = 2_000_000_000_000;
  const accounts = new TestAccounts({ ann: "secret", scout: "secret" });
  await using server = startServer({ accounts, clock: () => now });
  const op = await server.client("op", RENAME);
  const guest = await server.client("guest");
  for (const channel of ["#old", "#taken", "#assigned", "#bridged", "#attended"]) {
    await join(op, channel);
  }
  accounts.ownsChannel = (channel) => /^#(assigned|other)$/i.test(channel);
  await join(guest);
  await op.sync();
  const bridge = await server.internal("bridge", { account: "bridge", privileged: true });
  await join(bridge, "#bridged");
  server.server.addUser({ nick: "scout", account: "scout", realname: "s" })?.join("#attended");
  await op.sync();
  guest.send("RENAME #old #new", "RENAME #taken #new", "RENAME #none #new", "RENAME #old");
  assert.deepEqual(await guest.sync(), [
    "482 guest #old You are not a channel operator",
    "442 guest #taken You are not on that channel",
    "403 guest #none No such channel",
    "461 guest RENAME Not enough parameters",
  ]);
  async function refusal(line: string): Promise<string> {
    op.send(`RENAME ${line}`);
    return (await op.sync()).join(" | ");
  }
  const known = "This channel is known by its name outside of IRC";
  assert.deepEqual(
    [
      await refusal("#old #taken"),
      await refusal("#old new"),
      await refusal("#old #Other"),
      await refusal("#assigned #new"),
      await refusal("#bridged #new"),
      await refusal("#attended #new"),
    ],
    [
      "FAIL RENAME CHANNEL_NAME_IN_USE #old #taken There is a channel of this name",
      "FAIL RENAME CANNOT_RENAME #old new This is no name of a channel",
      "FAIL RENAME CANNOT_RENAME #old #Other This name is reserved",
      `FAIL RENAME CANNOT_RENAME #assigned #new ${known}`,
      `FAIL RENAME CANNOT_RENAME #bridged #new ${known}`,
      `FAIL RENAME CANNOT_RENAME #attended #new ${known}`,
    ],
  );
  assert.equal(await refusal("#old #new :why not"), "op RENAME #old #new why not");
  const recently = "This channel has been renamed recently";
  assert.equal(await refusal("#new #old"), `FAIL RENAME CANNOT_RENAME #new #old ${recently}`);
  now += 60_000;
  assert.equal(await refusal("#new #old"), "op RENAME #new #old");
});

const channels = fc.constantFrom("#a", "#b", "#C", "#d", "#e");
const NICKS = ["one", "two", "three"];
const nicks = fc.constantFrom(...NICKS);
const commands = fc.oneof(
  channels.map((channel) => `JOIN ${channel}`),
  channels.map((channel) => `PART ${channel}`),
  fc.tuple(channels, nicks).map(([channel, nick]) => `KICK ${channel} ${nick}`),
  fc.tuple(channels, nicks).map(([channel, nick]) => `MODE ${channel} +o ${nick}`),
  fc.tuple(channels, channels).map(([from, to]) => `RENAME ${from} ${to.toLowerCase()}`),
);

Deno.test("after random renames, joins, parts and kicks, each client knows its channels", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(2), commands), { maxLength: 60 }), async (steps) => {
      let now = 2_000_000_000_000;
      await using server = startServer({
        clock: () => now,
        limits: { pingSeconds: null },
      });
      const clients = [
        await server.client("one", RENAME),
        await server.client("two"),
        await server.client("three", `${RENAME} extended-join`),
      ];
      const views = clients.map(() => new Set<string>());
      for (const [who, command] of steps) {
        now += 60_000;
        clients[who]?.send(command);
        for (const index of [who, 0, 1, 2]) {
          for (const line of await clients[index]?.sync() ?? []) {
            follow(views[index] as Set<string>, NICKS[index] ?? "", line);
          }
        }
      }
      for (const [index, nick] of NICKS.entries()) {
        clients[index]?.send(`WHOIS ${nick}`);
        const told = (await clients[index]?.sync() ?? []).find((line) => line.startsWith("319"));
        const there = told?.split(" ").slice(3).map((name) => name.replace("@", "").toLowerCase());
        assert.deepEqual([...views[index] ?? []].sort(), (there ?? []).sort());
      }
    }),
    { numRuns: 10 },
  );
});

/** Takes a line into what a client knows of its channels; it must know a channel that it leaves. */
function follow(channels: Set<string>, nick: string, line: string): void {
  const [who, command, channel = "", other = ""] = line.toLowerCase().split(" ");
  if (who === "fail") return;
  const left = command === "rename" || (command === "part" && who === nick) ||
    (command === "kick" && other === nick);
  if (left) assert.ok(channels.delete(channel), line);
  if (command === "join" && who === nick) channels.add(channel);
  if (command === "rename") channels.add(other);
}
