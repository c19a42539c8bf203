/**
 * Mutated lines of many clients, whatever they come to mean: what each client knows of its channels
 * from what it was told has to be what the server says of them. Run by the tests with few lines, by
 * `deno task fuzz` with many, and by hand:
 * `deno run -P=test tests/services/engines/irc/fuzz_views.ts RUNS LINES SEED`.
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import fc from "fast-check";
import {
  IrcServer,
  type MemoryConnection,
  parseMessage,
} from "../../../../services/engines/irc/mod.ts";
import { ChannelViews } from "./support/channel_view.ts";
import { TestAccounts } from "./support/server.ts";

const CLIENTS = 6;

/** After so many lines, what is known is compared. */
const LINES_BETWEEN = 20;

const SEEDS = [
  ...["JOIN #a", "JOIN #b,#a k1,k2", "JOIN #b k1", "JOIN 0", "PART #a :bye", "PART #a,#b"],
  ...["KICK #a n1 :out", "KICK #a,#b n1,n2", "NICK n1", "NICK n2", "NICK N3", "QUIT :gone"],
  ...["MODE #a +o n1", "MODE #a -o+v n2 n1", "MODE #b +kl k1 3", "MODE #a -k k1", "MODE #a +imnst"],
  ...["MODE #b +b n1!*@*", "MODE #b -b n1!*@*", "MODE #a +b-o+e m:n2 n1 n3", "MODE #a +l-l 5"],
  ...["INVITE n1 #a", "INVITE n2 #b", "TOPIC #a :news", "TOPIC #b", "PRIVMSG #a,n1 :text"],
  ...["@+a=b TAGMSG @#a", "NOTICE +#b :text", "RENAME #a #c :why", "RENAME #c #a", "NAMES #a"],
  ...["WHO #a", "LIST", "AWAY :off", "SETNAME :other", "CAP LS", "CHATHISTORY LATEST #a * 5"],
];
const PIECES = [
  ..." ,:#+-@!*abnk123ovl\t\u00e9",
  "#a",
  "#b",
  "n1",
  "n2",
  " +o ",
  " :",
  ",,",
  "\u{1f600}",
];

/** A line, and what is done to it. */
const line = fc.tuple(
  fc.constantFrom(...SEEDS),
  fc.array(
    fc.record({
      at: fc.nat({ max: 40 }),
      removes: fc.nat({ max: 2 }),
      piece: fc.constantFrom("", ...PIECES),
    }),
    { maxLength: 2 },
  ),
).map(([seed, edits]) => {
  let text = seed;
  for (const { at, removes, piece } of edits) {
    const place = at % (text.length + 1);
    text = text.slice(0, place) + piece + text.slice(place + removes);
  }
  return text;
});
const step = fc.record({ who: fc.nat({ max: CLIENTS - 1 }), line });

/** Throws, with the shortest sequence that it can find, where a client knows something else. */
export async function fuzzViews(runs: number, lines: number, seed: number): Promise<void> {
  const sequence = fc.noBias(fc.array(step, { maxLength: lines * 2, size: "max" }));
  await fc.assert(fc.asyncProperty(sequence, runSequence), { numRuns: runs, seed });
}

async function runSequence(
  sequence: readonly { readonly who: number; readonly line: string }[],
): Promise<void> {
  const world = new World();
  try {
    await world.open();
    for (const [index, { who, line }] of sequence.entries()) {
      await world.send(who, line);
      if (index % LINES_BETWEEN === LINES_BETWEEN - 1) await world.compare();
    }
    await world.compare();
  } finally {
    await world.close();
  }
}

/** A connection that learns about its channels. */
class Client {
  readonly views: ChannelViews;
  readonly connection: MemoryConnection;

  constructor(connection: MemoryConnection, nick: string) {
    this.connection = connection;
    this.views = new ChannelViews(nick);
    connection.onLine = (line) => {
      const entered = this.views.take(parseMessage(line) ?? assert.fail(line));
      if (entered !== null) connection.send(`MODE ${entered}`);
    };
  }
}

class World {
  readonly #server = new IrcServer({
    serverName: "irc.test",
    networkName: "Test",
    serverDescription: "a server under test",
    requireAccount: false,
    accounts: new TestAccounts(),
    limits: { strangerRate: null, accountRate: null },
  });
  readonly #clients: Client[] = [];
  #connected = 0;

  async open(): Promise<void> {
    for (let slot = 0; slot < CLIENTS; slot++) this.#clients[slot] = this.#next();
    await settle();
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async send(who: number, line: string): Promise<void> {
    const client = this.#clients[who] ?? assert.fail();
    if (client.connection.closed) this.#clients[who] = this.#next();
    else client.connection.send(line);
    await settle();
  }

  /** Has a member of every channel ask about it, and compares what all members know. */
  async compare(): Promise<void> {
    await settle();
    const alive = this.#clients.filter(({ connection }) => !connection.closed);
    const channels = new Set(alive.flatMap(({ views }) => views.channels));
    assert.equal(this.#server.stats().channels, channels.size, "channels without a member");
    for (const channel of channels) {
      const inside = alive.filter(({ views }) => views.channels.includes(channel));
      const { members, modes } = await ask(inside[0] ?? assert.fail(), channel);
      for (const { views } of inside) {
        assert.deepEqual(
          views.describe(channel),
          { members, modes },
          `${views.nick} in ${channel}`,
        );
      }
      const nicks = inside.map(({ views }) => views.nick.toLowerCase()).sort();
      assert.deepEqual(members.map((name) => name.replace(/^[@+]+/, "")).sort(), nicks);
    }
  }

  #next(): Client {
    const nick = `new${this.#connected++}`;
    const client = new Client(this.#server.connect(), nick);
    const lines = [
      "CAP REQ :multi-prefix message-tags",
      `NICK ${nick}`,
      "USER u 0 * :u",
      "CAP END",
    ];
    for (const line of lines) client.connection.send(line);
    return client;
  }
}

/** What the server says of a channel to a member, which learns nothing from it. */
async function ask(
  { connection }: Client,
  channel: string,
): Promise<{ members: string[]; modes: string[] }> {
  const seen = new ChannelViews("nobody");
  seen.take(parseMessage(`:nobody!u@h JOIN ${channel}`) ?? assert.fail(channel));
  const before = connection.onLine;
  connection.onLine = (line) => void seen.take(parseMessage(line) ?? assert.fail(line));
  connection.send(`NAMES ${channel}`);
  connection.send(`MODE ${channel}`);
  await settle();
  connection.onLine = before;
  const { members, modes } = seen.describe(channel);
  return { members: members.filter((name) => name !== "nobody"), modes };
}

/** Nothing here waits for anything but earlier microtasks, and long answers for their turn. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await null;
  await new Promise<void>((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 30; turn++) await null;
}

if (import.meta.main) {
  const [runs = 100, lines = 200, seed = Date.now() % 2 ** 31] = Deno.args.map(Number);
  await fuzzViews(runs, lines, seed);
}
