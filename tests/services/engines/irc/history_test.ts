import assert from "node:assert/strict";
import fc from "fast-check";
import type { Message } from "../../../../services/engines/irc/protocol/message.ts";
import type {
  HistoryRecord,
  HistoryStore,
  LastMessage,
  NewHistoryRecord,
} from "../../../../services/engines/irc/mod.ts";
import type { TestClient } from "./support/client.ts";
import { essence, readBatch, texts } from "./support/history.ts";
import { startServer, TestAccounts } from "./support/server.ts";

const CAPABILITIES =
  "batch draft/chathistory echo-message labeled-response message-tags server-time";
const EVENTS = `${CAPABILITIES} draft/event-playback extended-join`;

Deno.test("each subcommand returns its part of a channel's log as it was delivered", async () => {
  let now = 2_000_000_000_000;
  await using server = startServer({ clock: () => now++ });
  const alice = await server.client("alice", CAPABILITIES);
  alice.send("JOIN #c");
  await alice.sync();
  const said: Message[] = [];
  for (let index = 0; index < 8; index++) {
    alice.send(`PRIVMSG #c :m${index}`);
    said.push(...await alice.syncMessages());
  }
  function id(index: number): string {
    return `msgid=${said[index]?.tags.get("msgid")}`;
  }
  function at(index: number): string {
    return `timestamp=${said[index]?.tags.get("time")}`;
  }
  for (const reference of [id, at]) {
    const cases: [string, number[]][] = [
      ["LATEST #c * 3", [5, 6, 7]],
      ["latest #c * 0", [0, 1, 2, 3, 4, 5, 6, 7]],
      [`LATEST #c ${reference(5)} 10`, [6, 7]],
      [`BEFORE #c ${reference(4)} 2`, [2, 3]],
      [`BEFORE #c ${reference(0)} 2`, []],
      [`AFTER #c ${reference(4)} 2`, [5, 6]],
      [`AFTER #c ${reference(7)} 2`, []],
      [`AROUND #c ${reference(4)} 3`, [3, 4, 5]],
      [`AROUND #c ${reference(0)} 4`, [0, 1, 2, 3]],
      [`BETWEEN #c ${reference(1)} ${reference(6)} 3`, [2, 3, 4]],
      [`BETWEEN #c ${reference(6)} ${reference(1)} 3`, [3, 4, 5]],
      [`BETWEEN #c ${reference(2)} ${reference(2)} 3`, []],
    ];
    for (const [request, expected] of cases) {
      const given = await readBatch(alice, request);
      assert.deepEqual(given.map(essence), expected.map((index) => essence(said[index])), request);
    }
  }
});

Deno.test("events are played back only to clients that asked for them", async () => {
  await using server = startServer();
  const alice = await server.client("alice", EVENTS);
  const bob = await server.client("bob", CAPABILITIES);
  alice.send("JOIN #c", "MODE #c +s", "TOPIC #c :news");
  await alice.sync();
  bob.send("JOIN #c", "PRIVMSG #c :hello", "@+typing=active TAGMSG #c", "@+react=+1 TAGMSG #c");
  bob.send("NICK robert", "PART #c :bye", "JOIN #c");
  await bob.sync();
  alice.send("PRIVMSG @#c :for operators");
  await alice.sync();
  const shown = (await readBatch(alice, "LATEST #c * 100")).map(
    ({ command, params }) => [command, ...params].join(" "),
  );
  assert.deepEqual(shown, [
    "JOIN #c * Real alice",
    "MODE #c +s",
    "TOPIC #c news",
    "JOIN #c * Real bob",
    "PRIVMSG #c hello",
    "TAGMSG #c",
    "NICK robert",
    "PART #c bye",
    "JOIN #c * Real bob",
  ]);
  assert.deepEqual((await readBatch(bob, "LATEST #c * 100")).map(({ params }) => params[1]), [
    "hello",
  ]);
});

Deno.test("only the two users of a conversation read it", async () => {
  const passwords = { alice: "secret", bob: "secret" };
  await using server = startServer({ accounts: new TestAccounts(passwords) });
  const alice = await server.member("alice", "secret", CAPABILITIES);
  const bob = await server.member("bob", "secret", CAPABILITIES);
  const guest = await server.client("guest", CAPABILITIES);
  alice.send("PRIVMSG bob :one");
  await alice.sync();
  bob.send("NOTICE alice :two");
  await bob.sync();
  guest.send("PRIVMSG alice :other");
  await guest.sync();
  await alice.sync();
  assert.deepEqual(texts(await readBatch(alice, "LATEST bob * 10")), ["one", "two"]);
  assert.deepEqual(texts(await readBatch(bob, "LATEST ALICE * 10")), ["one", "two"]);
  assert.deepEqual(texts(await readBatch(guest, "LATEST alice * 10")), ["other"]);
  assert.deepEqual(texts(await readBatch(guest, "LATEST bob * 10")), []);

  // An account keeps its messages over its connections; a guest's name is anybody's.
  guest.send("QUIT");
  await guest.untilClosed();
  const next = await server.client("guest", CAPABILITIES);
  assert.deepEqual(texts(await readBatch(next, "LATEST alice * 10")), []);
  alice.send("QUIT");
  await alice.untilClosed();
  const again = await server.member("alice", "secret", CAPABILITIES);
  assert.deepEqual(texts(await readBatch(again, "LATEST guest * 10")), ["other"]);

  // A new password takes nothing away; an account that is gone does: the name may be another's next.
  server.server.disconnectAccount("alice", "Passphrase changed");
  await again.untilClosed();
  const rotated = await server.member("alice", "secret", CAPABILITIES);
  assert.deepEqual(texts(await readBatch(rotated, "LATEST guest * 10")), ["other"]);
  server.server.disconnectAccount("alice", "Account deleted");
  server.server.forgetAccount("Alice");
  await rotated.untilClosed();
  const renamed = await server.member("alice", "secret", CAPABILITIES);
  assert.deepEqual(texts(await readBatch(renamed, "LATEST bob * 10")), []);
});

Deno.test("TARGETS lists channels and users by their last message", async () => {
  let now = 2_000_000_000_000;
  await using server = startServer({ clock: () => now++ });
  const alice = await server.client("alice", CAPABILITIES);
  const bob = await server.client("bob", CAPABILITIES);
  alice.send("JOIN #quiet", "JOIN #a", "JOIN #b", "PRIVMSG #a :1");
  alice.send("PRIVMSG bob :2", "PRIVMSG #b :3");
  const said = (await alice.syncMessages()).filter(({ command }) => command === "PRIVMSG");
  const [first = "", , last = ""] = said.map(({ tags }) => tags.get("time"));
  async function targets(request: string): Promise<string[]> {
    const lines = await readBatch(alice, `TARGETS ${request}`, "draft/chathistory-targets");
    return lines.map(({ params }) => params[1] ?? "");
  }
  const [long, ago] = ["timestamp=2099-01-01T00:00:00.000Z", "timestamp=1999-01-01T00:00:00.000Z"];
  assert.deepEqual(await targets(`${ago} ${long} 10`), ["#a", "bob", "#b"]);
  assert.deepEqual(await targets(`${ago} ${long} 2`), ["#a", "bob"]);
  assert.deepEqual(await targets(`${long} ${ago} 2`), ["bob", "#b"]);
  assert.deepEqual(await targets(`timestamp=${first} timestamp=${last} 10`), ["bob"]);
  alice.send("PART #b");
  await alice.sync();
  assert.deepEqual(await targets(`${ago} ${long} 10`), ["#a", "bob"]);
  await bob.sync();
});

Deno.test("a request that is wrong or not allowed is refused by its code", async () => {
  await using server = startServer();
  const alice = await server.client("alice", CAPABILITIES);
  const guest = await server.client("guest", CAPABILITIES);
  alice.send("JOIN #c", "PRIVMSG #c :hi");
  await alice.sync();
  const wrong: [string, string][] = [
    ["", "INVALID_PARAMS *"],
    ["SOMETIMES #c * 1", "INVALID_PARAMS SOMETIMES"],
    ["LATEST #c *", "NEED_MORE_PARAMS LATEST"],
    ["BETWEEN #c msgid=x 1", "NEED_MORE_PARAMS BETWEEN"],
    ["TARGETS timestamp=2020-01-01T00:00:00.000Z 1", "NEED_MORE_PARAMS TARGETS"],
    ["LATEST #nowhere * 1", "INVALID_TARGET LATEST #nowhere"],
    ["LATEST #c * 1", "INVALID_TARGET LATEST #c"],
    ["LATEST alice * -1", "INVALID_PARAMS LATEST"],
    ["BEFORE alice * 1", "INVALID_MSGREFTYPE BEFORE *"],
    ["BEFORE alice timestamp=soon 1", "INVALID_MSGREFTYPE BEFORE timestamp=soon"],
    ["TARGETS msgid=1 msgid=2 1", "INVALID_PARAMS TARGETS"],
  ];
  for (const [request, expected] of wrong) {
    guest.send(`CHATHISTORY ${request}`);
    const [answer] = await guest.syncMessages();
    assert.equal(answer?.command, "FAIL", request);
    assert.equal(answer?.params.slice(1, -1).join(" "), expected, request);
  }
  assert.deepEqual(await readBatch(guest, "BEFORE alice msgid=unknown 5"), []);
});

Deno.test("a labelled request is answered by one labelled batch", async () => {
  await using server = startServer();
  const alice = await server.client("alice", CAPABILITIES);
  alice.send("JOIN #c", "PRIVMSG #c :hi");
  await alice.sync();
  alice.send("@label=x CHATHISTORY LATEST #c * 5");
  const messages = await alice.syncMessages();
  assert.deepEqual(messages.map(({ command }) => command), ["BATCH", "PRIVMSG", "BATCH"]);
  assert.deepEqual(messages.map(({ tags }) => tags.get("label")), ["x", undefined, undefined]);
});

Deno.test("logs keep to their bounds, and the least used channel loses messages first", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (messages) => {
      await using server = startServer({ limits: { historyMessages: messages } });
      const alice = await server.client("alice", CAPABILITIES);
      alice.send("JOIN #c", ...Array.from({ length: 10 }, (_, index) => `PRIVMSG #c :${index}`));
      await alice.sync();
      const kept = texts(await readBatch(alice, "LATEST #c * 100"));
      const expected = Array.from({ length: 10 }, (_, index) => String(index)).slice(-messages);
      assert.deepEqual(kept, expected);
    }),
    { numRuns: 6 },
  );

  await using server = startServer({ limits: { historyBytes: 3000 } });
  const alice = await server.client("alice", CAPABILITIES);
  alice.send("JOIN #old", "JOIN #new", "PRIVMSG #old :first", "PRIVMSG #old :second");
  alice.send(...Array.from({ length: 12 }, (_, index) => `PRIVMSG #new :${index}`));
  await alice.sync();
  assert.deepEqual(await readBatch(alice, "LATEST #old * 100"), []);
  const kept = texts(await readBatch(alice, "LATEST #new * 100"));
  assert.ok(kept.length >= 5 && kept.length < 12, `${kept.length} are kept`);
  assert.equal(kept.at(-1), "11");
});

Deno.test("a channel's log ends with the channel, and can be turned off", async () => {
  await using server = startServer();
  const alice = await server.client("alice", CAPABILITIES);
  alice.send("JOIN #c", "PRIVMSG #c :secret", "PART #c", "JOIN #c");
  await alice.sync();
  assert.deepEqual(await readBatch(alice, "LATEST #c * 100"), []);
  server.server.reconfigure({ limits: { historyMessages: 0 } });
  alice.send("PRIVMSG #c :unkept");
  await alice.sync();
  assert.deepEqual(await readBatch(alice, "LATEST #c * 100"), []);
});

Deno.test("the key of a channel is sent to its members and not logged", async () => {
  await using server = startServer();
  const alice = await server.client("alice", EVENTS);
  alice.send("JOIN #c", "MODE #c +mk-t s3cret", "CHATHISTORY LATEST #c * 10");
  const shown = await alice.sync();
  const modes = shown.filter((line) => line.startsWith("alice MODE"));
  assert.deepEqual(modes, ["alice MODE #c +mk-t s3cret", "alice MODE #c +mk-t *"]);
});

/** A store that answers no question before the test lets it, and then with all that it was given. */
class WaitingStore implements HistoryStore {
  readonly newestTime = 0;
  readonly #records: NewHistoryRecord[] = [];
  readonly #asked = Promise.withResolvers<void>();
  readonly #answer = Promise.withResolvers<void>();

  /** Resolves when it is asked for a part of a log. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  answer(): void {
    this.#answer.resolve();
  }

  fail(): void {
    this.#answer.reject(new Error("The disk is away"));
  }

  /** Whether it takes no messages. */
  isFull = false;
  /** What those wait for who have added something; null if nothing. */
  behind: Promise<void> | null = null;

  isSilent(): boolean {
    return false;
  }

  async select(): Promise<readonly number[]> {
    this.#asked.resolve();
    await this.#answer.promise;
    return [...this.#records.keys()];
  }

  fetch(places: readonly number[]): Promise<readonly HistoryRecord[]> {
    return Promise.resolve(places.flatMap((place) => this.#records[place] ?? []));
  }

  lastMessages(): Promise<readonly LastMessage[]> {
    return Promise.resolve([]);
  }

  append(record: NewHistoryRecord): void {
    this.#records.push(record);
  }

  accept(records: readonly NewHistoryRecord[]): boolean {
    if (!this.isFull) this.#records.push(...records);
    return !this.isFull;
  }

  redact(): boolean {
    return !this.isFull;
  }

  room(): Promise<void> | null {
    return this.behind;
  }

  confine(): void {}
  forgetConfined(): void {}
  forgetAccount(): void {}
  rename(): void {}
}

Deno.test("a client that is kicked while the store is read gets nothing of the channel", async () => {
  const historyStore = new WaitingStore();
  await using server = startServer({ historyStore, limits: { historyMessages: 1 } });
  const alice = await server.client("alice", CAPABILITIES);
  const bob = await server.client("bob", CAPABILITIES);
  alice.send("JOIN #c", "PRIVMSG #c :one");
  await alice.sync();
  bob.send("JOIN #c");
  await bob.sync();
  bob.send("CHATHISTORY LATEST #c * 9");
  await historyStore.asked;
  alice.send("KICK #c bob", "PRIVMSG #c :about bob");
  await alice.sync();
  historyStore.answer();
  const commands = (await bob.syncMessages()).map(({ command }) => command);
  assert.deepEqual(commands.toSorted(), ["BATCH", "BATCH", "KICK"]);
});

Deno.test("what is redacted while a failing store is read is not shown from memory", async () => {
  const historyStore = new WaitingStore();
  await using server = startServer({ historyStore });
  const alice = await server.client("alice", `${CAPABILITIES} draft/message-redaction`);
  const bob = await server.client("bob", CAPABILITIES);
  alice.send("JOIN #c", "PRIVMSG #c :a secret", "PRIVMSG #c :news");
  const [secret] = (await alice.syncMessages()).filter(({ command }) => command === "PRIVMSG");
  bob.send("JOIN #c");
  await bob.sync();
  bob.send("CHATHISTORY LATEST #c * 9");
  await historyStore.asked;
  alice.send(`REDACT #c ${secret?.tags.get("msgid")}`);
  await alice.sync();
  historyStore.fail();
  const said = (await bob.syncMessages()).filter(({ command }) => command === "PRIVMSG");
  assert.deepEqual(texts(said), ["news"]);
});

Deno.test("nobody gets a message that the store does not take, and its sender is told", async () => {
  const historyStore = new WaitingStore();
  historyStore.answer();
  const accounts = new TestAccounts({ alice: "secret", bob: "secret" });
  await using server = startServer({ historyStore, accounts });
  const capabilities = `${CAPABILITIES} draft/message-redaction`;
  const alice = await server.member("alice", "secret", capabilities);
  const bob = await server.member("bob", "secret", capabilities);
  for (const client of [alice, bob]) {
    client.send("JOIN #c");
    await client.sync();
  }
  alice.send("PRIVMSG #c :kept");
  const [kept] = (await alice.syncMessages()).filter(({ command }) => command === "PRIVMSG");
  await bob.sync();
  historyStore.isFull = true;
  const id = kept?.tags.get("msgid") ?? "";
  for (
    const [line, ...context] of [
      ["PRIVMSG #c :lost", "PRIVMSG", "#c"],
      ["NOTICE #c :lost", "NOTICE", "#c"],
      ["@+x=y TAGMSG #c", "TAGMSG", "#c"],
      ["RELAYMSG #c other/carol :lost", "RELAYMSG", "#c"],
      ["PRIVMSG bob :lost", "PRIVMSG", "bob"],
      [`REDACT #c ${id}`, "REDACT", "#c", id],
    ] as const
  ) {
    alice.send(line);
    const [answer, ...others] = await alice.syncMessages();
    assert.equal(answer?.command, "FAIL", line);
    const [command, ...rest] = context;
    const params = [command, "TEMPORARILY_UNAVAILABLE", ...rest];
    assert.deepEqual(answer?.params.slice(0, params.length), params);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(await bob.syncMessages(), []);
  alice.send("@+typing=active TAGMSG #c", "PRIVMSG @#c :to operators", "PART #c");
  const shown = (await bob.syncMessages()).map(({ command }) => command);
  assert.deepEqual(shown, ["TAGMSG", "PART"], "what is not kept, and what has happened, goes on");
});

Deno.test("a client that spoke waits while the store is behind, and nobody else does", async () => {
  const historyStore = new WaitingStore();
  await using server = startServer({ historyStore });
  const [loud, quiet] = [await server.client("loud"), await server.client("quiet")];
  for (const client of [loud, quiet]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await loud.sync();
  const { promise, resolve } = Promise.withResolvers<void>();
  historyStore.behind = promise;
  loud.send("PRIVMSG #c :one", "PRIVMSG #c :two", "PRIVMSG #c :three");
  quiet.send("PRIVMSG #c :at once");
  const heard = async (client: TestClient) => texts(await client.until("PRIVMSG")).at(-1);
  assert.equal(await heard(quiet), "one");
  assert.equal(await heard(loud), "at once", "the second of the other waits");
  historyStore.behind = null;
  resolve();
  assert.deepEqual([await heard(quiet), await heard(quiet)], ["two", "three"]);
});
