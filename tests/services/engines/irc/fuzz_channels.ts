/**
 * Random commands of many clients, interleaved and mutated, against a model of channels. The replies
 * to each client and the final members of each channel must match the model. The tests run it with
 * few commands, `deno task fuzz` with many, and by hand:
 * `deno run -P=test tests/services/engines/irc/fuzz_channels.ts RUNS COMMANDS SEED`.
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import fc from "fast-check";
import {
  IrcServer,
  type MemoryConnection,
  parseMessage,
} from "../../../../services/engines/irc/mod.ts";
import { type Action, type AskedChange, ChannelModel, TEXT } from "./support/channel_model.ts";
import { TestAccounts } from "./support/server.ts";
import { anyCharacter } from "../../../support/any_character.ts";

/** Clients at once; the first of them have accounts. */
const CLIENTS = 8;
const ACCOUNTS = 3;

const HOST = "irc.test";
const CHANNELS = ["#a", "#b", "#A", "#c", "#B"];
const NICKS = ["n0", "n1", "n2", "N1", "n3", "n4", "N4", "n5", "n6", "n7", "n8"];
const KEYS = ["", "k1", "k2"];
const MASKS = [
  ...["n1", "n?!*@*", "*!~u2@*", "*!*@*", "N4!*@*", "a:acc0", "a:acc*", "m:n2!*@*", "m:a:acc1"],
  ...["*!~u?@irc.test", "m:*!*@*"],
];

/** A step: what one client does, or a line that means nothing. */
type Step =
  | { readonly who: number; readonly action: Action; readonly dress: number }
  | { readonly who: number; readonly noise: string };

const channel = fc.constantFrom(...CHANNELS);
const nick = fc.constantFrom(...NICKS);

const change: fc.Arbitrary<AskedChange> = fc.tuple(
  fc.boolean(),
  fc.oneof(
    fc.constantFrom("o", "v").chain((letter) =>
      fc.option(nick, { nil: undefined, freq: 20 }).map((param) => ({ letter, param }))
    ),
    fc.constantFrom("b", "e", "I").chain((letter) =>
      fc.option(fc.constantFrom(...MASKS), { nil: undefined, freq: 6 })
        .map((param) => ({ letter, param }))
    ),
    fc.constantFrom(...KEYS, "a,b").map((param) => ({ letter: "k", param: param || undefined })),
    fc.constantFrom("1", "3", "5", "0", "x", undefined).map((param) => ({ letter: "l", param })),
    fc.constantFrom(..."imnstCz").map((letter) => ({ letter, param: undefined })),
  ),
).map(([add, { letter, param }]) => ({
  add,
  letter,
  ...(param === undefined || (letter === "l" && !add) ? {} : { param }),
}));

/** Changes that lack their parameter come last, or they would take that of another. */
const changes = fc.array(change, { minLength: 1, maxLength: 6 }).map((list) =>
  list.toSorted((one, other) => Number(lacksParameter(one)) - Number(lacksParameter(other)))
);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("join"), channel, key: fc.constantFrom(...KEYS) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "leaveAll" }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("part"), channel }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("kick"), channel, nick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("nick"), nick }) },
  { weight: 1, arbitrary: fc.constant({ kind: "quit" }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant("mode"), channel, changes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("modes"), channel }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("invite"), channel, nick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("topic"),
      channel,
      text: fc.constantFrom("news", "more news", "", null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("names"), channel }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("say"),
      command: fc.constantFrom("PRIVMSG", "NOTICE", "TAGMSG"),
      target: fc.oneof(
        channel,
        channel.map((name) => `@${name}`),
        channel.map((name) => `+${name}`),
        nick,
      ),
    }),
  },
) as fc.Arbitrary<Action>;

const noise = fc.oneof(
  fc.constantFrom("JOIN", "KICK #a", "MODE", "INVITE n1", "TOPIC", "PART", "PRIVMSG", "NICK", ""),
  fc.constantFrom("PRIVMSG #a", "JOIN :", "PART :,,", "MODE #a", "KICK #a,#b n1", "@", ":", ": :"),
  fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => `X${text}`),
  fc.string({ maxLength: 40 }).map((text) => `@${text} XX ${text}`),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.record({
      who: fc.nat({ max: CLIENTS - 1 }),
      action,
      dress: fc.nat({ max: 7 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ who: fc.nat({ max: CLIENTS - 1 }), noise }) },
);

/** Steps that go out at once, of one client or several. */
const burst = fc.array(step, { minLength: 1, maxLength: 6 });

/**
 * Throws, with the shortest sequence that it can find, where server and model disagree.
 *
 * @param commands about how many commands each run has
 */
export async function fuzzChannels(runs: number, commands: number, seed: number): Promise<void> {
  const sequence = fc.array(burst, { maxLength: Math.ceil(commands / 3.5) * 2, size: "max" });
  await fc.assert(fc.asyncProperty(fc.noBias(sequence), runSequence), { numRuns: runs, seed });
}

async function runSequence(sequence: readonly (readonly Step[])[]): Promise<void> {
  const world = new World();
  try {
    await world.open();
    for (const [index, steps] of sequence.entries()) {
      await world.run(steps);
      if (index % 10 === 9) await world.compare();
    }
    await world.compare();
  } finally {
    await world.close();
  }
}

/** A client of the server and of the model. */
class Client {
  nick: string;
  readonly user: string;
  readonly account: string | null;
  readonly connection: MemoryConnection;
  /** What it was told, and what it ought to have been told. */
  readonly told: string[] = [];
  readonly expected: string[] = [];

  constructor(connection: MemoryConnection, nick: string, slot: number) {
    this.connection = connection;
    this.nick = nick;
    this.user = `~u${slot}`;
    this.account = slot < ACCOUNTS ? `acc${slot}` : null;
    connection.onLine = (line) => {
      const shown = show(line);
      if (shown !== null) this.told.push(shown);
    };
  }

  tell(line: string): void {
    this.expected.push(line);
  }
}

/** A server, a model, and clients of both. */
class World {
  readonly #server = new IrcServer({
    serverName: HOST,
    networkName: "Test",
    serverDescription: "a server under test",
    requireAccount: false,
    accounts: new TestAccounts(
      Object.fromEntries(Array.from({ length: ACCOUNTS }, (_, index) => [`acc${index}`, "x"])),
    ),
    limits: { strangerRate: null, accountRate: null },
    // No answer pauses: the model knows no pauses, and a busy machine has many.
    monotonicClock: () => 0,
  });
  readonly #model = new ChannelModel(HOST);
  readonly #clients: Client[] = [];
  readonly #watcher = this.#server.connect({ privileged: true });
  readonly #watched: string[] = [];
  #connected = 0;

  async open(): Promise<void> {
    this.#watcher.onLine = (line) => {
      const shown = show(line);
      if (shown !== null) this.#watched.push(shown);
    };
    for (const line of ["CAP REQ multi-prefix", "NICK watcher", "USER w 0 * :w", "CAP END"]) {
      this.#watcher.send(line);
    }
    for (let slot = 0; slot < CLIENTS; slot++) await this.#connect(slot);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  /** Sends all steps at once, and compares what each client was told. */
  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps.filter((step) => !("noise" in step || step.action.kind === "names"))) {
      if ("action" in one) this.#client(one.who).connection.send(lineOf(one.action, one.dress));
    }
    for (const [who, actions] of inOrder(steps)) {
      const client = this.#client(who);
      for (const action of actions) {
        this.#model.act(client, action);
        if (action.kind === "quit") break;
      }
    }
    await this.#settle();
    this.#compareTold();
    for (const slot of new Set(steps.map(({ who }) => who))) {
      if (this.#client(slot).connection.closed) await this.#connect(slot);
    }
    for (const one of steps) await this.#runAlone(one);
  }

  /** Compares members, modes and lists of every channel. */
  async compare(): Promise<void> {
    for (const name of this.#model.channels()) {
      this.#watched.length = 0;
      for (const line of [`NAMES ${name}`, `MODE ${name}`, `MODE ${name} beI`]) {
        this.#watcher.send(line);
      }
      await this.#settle();
      const { members, modes, lists } = this.#model.describe(name);
      const found = this.#watched.map((line) => line.toLowerCase());
      const expected = [
        `353 ${name} ${members.join(" ")}`,
        `366 ${name}`,
        `324 ${name} ${modes}`,
        ...["b", "e", "I"].flatMap((letter) => [
          ...lists.filter((entry) => entry.startsWith(letter))
            .map((entry) => `${ENTRY[letter]} ${name} ${entry.slice(2)}`),
          `${END[letter]} ${name}`,
        ]),
      ];
      assert.deepEqual(found, expected.map((line) => line.toLowerCase()));
    }
    const { channels } = this.#server.stats();
    assert.equal(channels, this.#model.channels().length);
  }

  /** What has an answer that the model does not know, or that comes later. */
  async #runAlone(step: Step): Promise<void> {
    const client = this.#client(step.who);
    if ("noise" in step) {
      client.connection.send(step.noise.replaceAll(/[\r\n\0]/g, ""));
      await this.#settle();
      client.told.length = 0;
    } else if (step.action.kind === "names") {
      client.connection.send(lineOf(step.action, step.dress));
      this.#model.act(client, step.action);
      await this.#settle();
    }
    this.#compareTold();
  }

  async #connect(slot: number): Promise<void> {
    const account = slot < ACCOUNTS ? { account: `acc${slot}` } : {};
    const client = new Client(this.#server.connect(account), `new${this.#connected++}`, slot);
    for (const line of ["CAP REQ message-tags", `NICK ${client.nick}`, `USER u${slot} 0 * :u`]) {
      client.connection.send(line);
    }
    client.connection.send("CAP END");
    this.#clients[slot] = client;
    await this.#settle();
    client.told.length = 0;
    this.#model.connect(client);
  }

  #client(slot: number): Client {
    return this.#clients[slot] ?? assert.fail();
  }

  #compareTold(): void {
    for (const client of this.#clients) {
      assert.deepEqual(client.told, client.expected, `what ${client.nick} was told`);
      client.told.length = 0;
      client.expected.length = 0;
    }
  }

  /** Nothing here waits for anything but earlier microtasks. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn++) await null;
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 30; turn++) await null;
  }
}

const ENTRY: Readonly<Record<string, string>> = { b: "367", e: "348", I: "346" };
const END: Readonly<Record<string, string>> = { b: "368", e: "349", I: "347" };

/** The server carries out at once all that a client has sent, the client who sent first before. */
function inOrder(steps: readonly Step[]): Map<number, Action[]> {
  const perClient = new Map<number, Action[]>();
  for (const step of steps) {
    if ("noise" in step || step.action.kind === "names") continue;
    perClient.set(step.who, [...perClient.get(step.who) ?? [], step.action]);
  }
  return perClient;
}

/** The line of an action, in one of the forms that mean the same. */
function lineOf(action: Action, dress: number): string {
  const line = plainLine(action);
  const tagged = line.startsWith("@");
  switch (dress) {
    case 1:
      return tagged ? line : `:liar!x@y ${line}`;
    case 2:
      return tagged ? line : `@+a=b;c=d\\s :n1!x@y ${line}`;
    case 3:
      return tagged ? line : line.replace(/^\w+/, (command) => command.toLowerCase());
    case 4:
      return tagged ? line : line.replace(/ (?!.* :)/, "   ").replace(/^(\w+) /, "$1  ");
    default:
      return line;
  }
}

function plainLine(action: Action): string {
  switch (action.kind) {
    case "join":
      return `JOIN ${action.channel} ${action.key}`.trimEnd();
    case "leaveAll":
      return "JOIN 0";
    case "part":
      return `PART ${action.channel}`;
    case "kick":
      return `KICK ${action.channel} ${action.nick}`;
    case "nick":
      return `NICK ${action.nick}`;
    case "quit":
      return "QUIT :gone";
    case "mode":
      return `MODE ${action.channel} ${asked(action.changes)}`;
    case "modes":
      return `MODE ${action.channel}`;
    case "invite":
      return `INVITE ${action.nick} ${action.channel}`;
    case "topic":
      return `TOPIC ${action.channel}${action.text === null ? "" : ` :${action.text}`}`;
    case "names":
      return `NAMES ${action.channel}`;
    case "say":
      return action.command === "TAGMSG"
        ? `@+x=y TAGMSG ${action.target}`
        : `${action.command} ${action.target} :${TEXT}`;
  }
}

function asked(changes: readonly AskedChange[]): string {
  const letters = changes.map(({ add, letter }) => (add ? "+" : "-") + letter).join("");
  return [letters, ...changes.flatMap(({ param }) => param ?? [])].join(" ");
}

function lacksParameter({ add, letter, param }: AskedChange): boolean {
  return param === undefined && ("ovbeIk".includes(letter) || (letter === "l" && add));
}

/** A line of the server in the model's words; null for what the model says nothing about. */
function show(line: string): string | null {
  const { source, command, params } = parseMessage(line) ?? assert.fail(line);
  const own = params.slice(1);
  switch (command) {
    case "329":
    case "333":
    case "ERROR":
      return null;
    case "353":
      return `353 ${own[1]} ${(own[2] ?? "").trim().split(" ").sort().join(" ")}`;
    case "346":
    case "348":
    case "367":
      return `${command} ${own[0]} ${own[1]}`;
    case "324":
    case "332":
    case "341":
      return `${command} ${own.join(" ")}`;
    case "QUIT":
      return `${source?.split("!")[0]} QUIT`;
  }
  if (/^\d\d\d$/.test(command)) return [command, ...own.slice(0, -1)].join(" ");
  const who = source?.includes("!") ? source.split("!")[0] : "server";
  return [who, command, ...params].join(" ").trimEnd();
}

if (import.meta.main) {
  const [runs = 100, commands = 200, seed = Date.now() % 2 ** 31] = Deno.args.map(Number);
  await fuzzChannels(runs, commands, seed);
}
