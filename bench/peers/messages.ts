import {
  type Address,
  Connection,
  EventStreamClient,
  HttpClient,
  IrcClient,
  Ledger,
  ReaderCrowd,
} from "../client/mod.ts";
import { measure } from "../process_usage.ts";
import { sendAtRate, sendInWindows } from "../pace.ts";
import { CHANNEL, Readers, untilBegun } from "../scenarios/readers.ts";
import { postInWindows } from "../scenarios/streams.ts";
import type { Scenario, Sizes } from "../scenarios/mod.ts";
import {
  type CoordinationServer,
  ERGO,
  type Floor,
  type IrcServerKind,
  joinBridge,
  MUSTER,
  registerAgents,
  startFloor,
  streamOfFloor,
} from "../servers/mod.ts";
import { percentile } from "../statistics.ts";
import { type Column, type Contestant, coordinationRow, scenarioOf, type Values } from "./row.ts";

/** Duration of a round at a fixed rate, as a multiple of one at full rate. */
const PACED_FACTOR = 4;

/** Pairs of clients; one writes to the other. */
const PAIRS = 10;

/** Lines that a sender writes at once. */
const LINES_PER_WRITE = 10;

/** Windows of a round of {@linkcode PRIVMSG}. */
const WINDOWS = 300;

/** The text before a message's stamp; both together have 80 bytes. */
const BODY = "x".repeat(71);

/** The columns of a message that travels alone: its cost and its latency. */
function single(name: string, cpu: number, p50: number): readonly Column<"cpu" | "p50">[] {
  return [
    { key: "cpu", name: `${name}: CPU`, unit: "µs", aim: cpu },
    { key: "p50", name: `${name}: p50`, unit: "ms", aim: p50 },
  ];
}

const POST_TO_READER = coordinationRow({
  name: "post-to-reader",
  columns: single("POST to one reader", 1000, 1),
  describe: atRate,
  on: async (server, sizes, open) => {
    await joinBridge(server, CHANNEL);
    const readers = open.use(await Readers.open(server, 1));
    const post = await poster(server.api, server.token, open);
    return () => pace(server.pids, readers, sizes, post);
  },
  more: [
    floor("Deno.serve", (server) => server.api, ({ api }, open) => poster(api, "none", open)),
  ],
});

const IRC_TO_READER = coordinationRow({
  name: "irc-to-reader",
  columns: single("IRC to one stream reader", 800, 0.8),
  describe: atRate,
  on: async (server, sizes, open) => {
    await joinBridge(server, CHANNEL);
    const [sender] = await enter(server, open, ["sender"]);
    const readers = open.use(await Readers.open(server, 1));
    return () => pace(server.pids, readers, sizes, saying(sender));
  },
  more: [
    floor("Deno.listen", (server) => server.lines, async ({ lines }, open) => {
      const owner = { consumer: (_bytes: Uint8Array, length: number) => length, closed() {} };
      const sender = await Connection.open(lines, owner);
      open.defer(() => sender.close());
      return (stamp) => {
        const line = lineTo(`#${CHANNEL}`, stamp);
        return () => sender.write(line);
      };
    }),
  ],
});

const IRC_BESIDE_READERS = coordinationRow({
  name: "irc-beside-readers",
  columns: [{ key: "p50", name: "IRC to IRC beside stream readers: p50", unit: "ms", aim: 1 }],
  describe: (sizes) => `${atRate(sizes)}; ${sizes.readers} stream readers in the channel`,
  on: async (server, sizes, open) => {
    await joinBridge(server, CHANNEL);
    const [sender, receiver] = await enter(server, open, ["sender", "receiver"]);
    const crowd = open.use(await ReaderCrowd.ask(server.streamOf(CHANNEL), sizes.readers));
    await untilBegun(server, crowd.ready());
    const group = {
      expect(senders: number, messagesPerSender: number) {
        const ledger = new Ledger({ receivers: 1, senders, messagesPerSender });
        receiver?.count(ledger, 0);
        return ledger;
      },
      count: 1,
    };
    return async () => {
      const { p50 } = await pace(server.pids, group, sizes, saying(sender));
      return { p50 };
    };
  },
});

const EVENTS = coordinationRow({
  name: "events",
  columns: [{ key: "cpu", name: "stream event, POST at full rate", unit: "µs", aim: 1.5 }],
  describe: ({ readers, events }) =>
    `${events} messages posted to ${readers} readers as fast as they are delivered`,
  on: async (server, sizes, open) => {
    await joinBridge(server, CHANNEL);
    const readers = open.use(await Readers.open(server, sizes.readers));
    return async () => {
      const { serverMicros } = await postInWindows(server, readers, sizes.events);
      return { cpu: serverMicros };
    };
  },
});

const PRIVMSG = scenarioOf<"cpu">({
  name: "privmsg",
  columns: [{ key: "cpu", name: "PRIVMSG, one to one", unit: "µs", aim: 8 }],
  describe: () =>
    `${PAIRS} pairs, ${LINES_PER_WRITE} lines per write, as fast as they are delivered, CPU per ` +
    "message",
  muster: pairsOn(MUSTER),
  peers: () => Deno.env.has("MUSTER_BENCH_ERGO") ? [pairsOn(ERGO)] : [],
});

/** Messages that muster and its peers deliver. */
export const MESSAGE_ROWS: readonly Scenario[] = [
  POST_TO_READER,
  IRC_TO_READER,
  IRC_BESIDE_READERS,
  EVENTS,
  PRIVMSG,
];

function atRate({ rate, seconds }: Sizes): string {
  return `${rate} messages/s for ${seconds * PACED_FACTOR} s`;
}

/** The receivers of the messages. */
type Receivers = Pick<Readers, "expect" | "count">;

/** Makes a message with a stamp; the result sends it. */
type Prepare = (stamp: string) => () => Promise<void>;

/**
 * Sends at the rate, and waits until everything has arrived. Latencies count from the write of what
 * is prepared.
 */
async function pace(
  pids: readonly number[],
  receivers: Receivers,
  { rate, seconds }: Sizes,
  prepare: Prepare,
): Promise<Values<"cpu" | "p50">> {
  const messages = rate * seconds * PACED_FACTOR;
  const ledger = receivers.expect(1, messages);
  const { serverSeconds } = await measure(pids, async () => {
    await sendAtRate(rate, messages, () => {
      const send = prepare(ledger.stamp(0));
      ledger.restart(0);
      return send();
    });
    await ledger.reached(messages * receivers.count);
  });
  return {
    cpu: serverSeconds * 1e6 / messages,
    p50: percentile(ledger.latencies, 0.5),
  };
}

/** Sends stamped messages as POSTs, one after the other, over one connection. */
async function poster(
  address: Address,
  token: string,
  open: AsyncDisposableStack,
): Promise<Prepare> {
  const client = open.use(await HttpClient.open(address));
  const path = `/v1/channels/${CHANNEL}/messages`;
  const post = async (request: string) => {
    const { status } = await client.ask(request);
    if (status !== 204) throw new Error(`A POST was answered ${status}`);
  };
  let posted = Promise.resolve();
  return (stamp) => {
    const body = { nick: "bench", text: BODY + stamp };
    const request = HttpClient.format({ method: "POST", path, token, body });
    return () => posted = posted.then(() => post(request));
  };
}

/**
 * The bare runtime, which passes the messages of one sender on to one reader of a stream.
 *
 * @param streamsAt where the reader asks for the stream
 * @param sender connects the sender
 */
function floor(
  name: string,
  streamsAt: (server: Floor) => Address,
  sender: (server: Floor, open: AsyncDisposableStack) => Promise<Prepare>,
): Contestant<"cpu" | "p50"> {
  return {
    name,
    prepare: async (sizes, open) => {
      const server = open.use(await startFloor());
      const reader = await EventStreamClient.open(streamOfFloor(streamsAt(server)));
      open.defer(() => reader.close());
      const receivers: Receivers = {
        expect(senders, messagesPerSender) {
          const ledger = new Ledger({ receivers: 1, senders, messagesPerSender });
          reader.count(ledger, 0);
          return ledger;
        },
        count: 1,
      };
      const send = await sender(server, open);
      return () => pace(server.pids, receivers, sizes, send);
    },
  };
}

/** Connects registered agents and joins them to the channel. */
async function enter(
  server: CoordinationServer,
  open: AsyncDisposableStack,
  nicks: readonly string[],
): Promise<IrcClient[]> {
  const clients: IrcClient[] = [];
  for (const login of await registerAgents(server, nicks)) {
    const client = await IrcClient.connect(server.irc, login);
    open.defer(() => client.close());
    await client.join(`#${CHANNEL}`);
    clients.push(client);
  }
  return clients;
}

function saying(client: IrcClient | undefined): Prepare {
  return (stamp) => {
    const line = lineTo(`#${CHANNEL}`, stamp);
    return async () => await client?.send(line);
  };
}

function lineTo(target: string, stamp: string): string {
  return `PRIVMSG ${target} :${BODY}${stamp}\r\n`;
}

function pairsOn(kind: IrcServerKind): Contestant<"cpu"> {
  return {
    name: kind.name,
    prepare: async (_sizes, open) => {
      const server = open.use(await kind.start());
      const clients: IrcClient[] = [];
      for (let index = 0; index < 2 * PAIRS; index++) {
        const client = await IrcClient.connect(server.irc, { nick: `member${index}` });
        open.defer(() => client.close());
        clients.push(client);
      }
      return () => writeInPairs(server.pid, clients);
    },
  };
}

async function writeInPairs(
  pid: number,
  clients: readonly IrcClient[],
): Promise<Values<"cpu">> {
  const [senders, receivers] = [clients.slice(0, PAIRS), clients.slice(PAIRS)];
  const ledger = new Ledger({
    receivers: PAIRS,
    senders: PAIRS,
    messagesPerSender: WINDOWS * LINES_PER_WRITE,
  });
  receivers.forEach((client, index) => client.count(ledger, index));
  const send = async () => {
    await Promise.all(senders.map((client, index) => {
      const lines = Array.from(
        { length: LINES_PER_WRITE },
        () => lineTo(receivers[index]?.nick ?? "", ledger.stamp(index)),
      );
      return client.send(lines.join(""));
    }));
  };
  const deliveriesEach = PAIRS * LINES_PER_WRITE;
  const { serverSeconds } = await measure(
    pid,
    () => sendInWindows(ledger, { count: WINDOWS, deliveriesEach, send }),
  );
  return { cpu: serverSeconds * 1e6 / ledger.delivered };
}
