import { Ledger } from "../client/mod.ts";
import type { IrcServerProcess } from "../servers/mod.ts";
import { measure } from "../process_usage.ts";
import { mediansByKey, percentile } from "../statistics.ts";
import { Members } from "./members.ts";
import { PACED_SECONDS, sendAtRate, sendInWindows } from "../pace.ts";
import type { Figure, Scenario, Sizes } from "../scenario.ts";

const CHANNEL = "#bench";

/** The text before a message's stamp; both together have 80 bytes. */
const BODY = "x".repeat(71);

/** Lines that a sender writes at once. */
const LINES_PER_WRITE = 10;

/** The aim for one delivery with tags and ids, in µs of the server's processor time. */
const DELIVERY_AIM = 2;

/** Everybody reads everything that a few write as fast as it is delivered. */
export const FANOUT: Scenario = {
  name: "irc-fanout",
  anyIrcServer: true,
  describe: (sizes) => `${describeFanout(sizes)}, with the tags that the server has`,
  measure: async (sizes, kind) => {
    await using server = await kind.start();
    using members = await enter(server, sizes, server.capabilities);
    await assertTags(members, server.capabilities);
    return await measureFanout(server.pid, members, sizes, DELIVERY_AIM);
  },
};

/** The same in a small channel, where a message costs more than its deliveries. */
export const SMALL_FANOUT: Scenario = {
  name: "irc-fanout-small",
  anyIrcServer: true,
  describe: (sizes) => FANOUT.describe(inSmall(sizes)),
  measure: (sizes, kind) => FANOUT.measure(inSmall(sizes), kind),
};

/** The same for clients that know no tags. */
export const PLAIN_FANOUT: Scenario = {
  name: "irc-fanout-plain",
  anyIrcServer: true,
  describe: (sizes) => `${describeFanout(sizes)}, without tags`,
  measure: async (sizes, kind) => {
    await using server = await kind.start();
    using members = await enter(server, sizes, []);
    return await measureFanout(server.pid, members, sizes);
  },
};

/** The latency of a message while the server is not busy. */
export const LATENCY: Scenario = {
  name: "irc-latency",
  anyIrcServer: true,
  describe: ({ members, rate, rounds }) =>
    `${rate} messages/s for ${PACED_SECONDS} s to a channel of ${members}, from the sender's ` +
    `write to each member's read, median of ${rounds}`,
  measure: async (sizes, kind) => {
    await using server = await kind.start();
    using members = await enter(server, sizes, server.capabilities);
    return await measureLatency(server.pid, members, sizes);
  },
};

/** A tenth of the members, with ten times the messages. */
function inSmall(sizes: Sizes): Sizes {
  const { members, senders, messages } = sizes;
  return {
    ...sizes,
    members: Math.max(senders + 1, Math.ceil(members / 10)),
    messages: messages * 10,
  };
}

export function describeFanout({ members, senders, messages, rounds }: Sizes): string {
  return `${messages} messages of ${senders} senders to a channel of ${members}, ` +
    `median of ${rounds}`;
}

/** Lets all members enter the channel. */
export async function enter(
  server: IrcServerProcess,
  { members: count, senders }: Sizes,
  capabilities: readonly string[],
): Promise<Members> {
  const members = await Members.connect(server, { count, senders, capabilities });
  await members.join(CHANNEL);
  return members;
}

/**
 * Sends one message and checks the line that a member gets.
 *
 * @throws Error if a requested tag is missing
 */
async function assertTags(members: Members, capabilities: readonly string[]): Promise<void> {
  const [sender] = members.senders;
  const receiver = members.all.at(-1);
  if (sender === undefined || receiver === undefined) throw new TypeError("Nobody is here");
  const [line] = await Promise.all([
    receiver.expect("PRIVMSG"),
    sender.send(`PRIVMSG ${CHANNEL} :Are the tags there?\r\n`),
  ]);
  const tags = [["server-time", "time="], ["message-tags", "msgid="], ["account-tag", "account="]];
  for (const [capability = "", tag = ""] of tags) {
    if (capabilities.includes(capability) && !line.includes(tag)) {
      throw new Error(`A message came without the tag "${tag}": ${line}`);
    }
  }
}

async function measureFanout(
  pid: number,
  members: Members,
  { messages, rounds }: Sizes,
  aim?: number,
): Promise<Figure[]> {
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await fanOut(pid, members, messages));
  }
  const { perSecond, serverMicros, clientMicros } = mediansByKey(measured);
  return [
    { name: "deliveries", value: perSecond, unit: "/s" },
    {
      name: "server CPU per delivery",
      value: serverMicros,
      unit: "µs",
      ...(aim === undefined ? {} : { aim }),
    },
    { name: "client CPU per delivery", value: clientMicros, unit: "µs" },
  ];
}

/** Sends a number of messages to all members, as fast as they are delivered. */
export async function fanOut(pid: number, members: Members, messages: number) {
  const { all, senders } = members;
  const windows = Math.ceil(messages / senders.length / LINES_PER_WRITE);
  const ledger = new Ledger({
    receivers: all.length,
    senders: senders.length,
    messagesPerSender: windows * LINES_PER_WRITE,
  });
  members.count(ledger);
  const send = async () => {
    await Promise.all(senders.map((client, sender) => {
      const lines = Array.from({ length: LINES_PER_WRITE }, () => line(ledger.stamp(sender)));
      return client.send(lines.join(""));
    }));
  };
  const deliveriesEach = senders.length * LINES_PER_WRITE * (all.length - 1);
  const cost = await measure(
    pid,
    () => sendInWindows(ledger, { count: windows, deliveriesEach, send }),
  );
  return {
    perSecond: ledger.delivered / cost.seconds,
    serverMicros: cost.serverSeconds * 1e6 / ledger.delivered,
    clientMicros: cost.clientSeconds * 1e6 / ledger.delivered,
  };
}

async function measureLatency(
  pid: number,
  members: Members,
  { rate, rounds }: Sizes,
): Promise<Figure[]> {
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await sendPaced(pid, members, rate));
  }
  const { p50, p99, serverMicros } = mediansByKey(measured);
  return [
    { name: "latency p50", value: p50, unit: "ms" },
    { name: "latency p99", value: p99, unit: "ms" },
    { name: "server CPU per delivery", value: serverMicros, unit: "µs" },
  ];
}

async function sendPaced(pid: number, members: Members, rate: number) {
  const { all, senders } = members;
  const messages = rate * PACED_SECONDS;
  const ledger = new Ledger({
    receivers: all.length,
    senders: senders.length,
    messagesPerSender: Math.ceil(messages / senders.length),
  });
  members.count(ledger);
  const send = async (index: number) => {
    const sender = index % senders.length;
    await senders[sender]?.send(line(ledger.stamp(sender)));
  };
  const cost = await measure(pid, async () => {
    await sendAtRate(rate, messages, send);
    await ledger.reached(messages * (all.length - 1));
  });
  return {
    p50: percentile(ledger.latencies, 0.5),
    p99: percentile(ledger.latencies, 0.99),
    serverMicros: cost.serverSeconds * 1e6 / ledger.delivered,
  };
}

function line(stamp: string): string {
  return `PRIVMSG ${CHANNEL} :${BODY}${stamp}\r\n`;
}
