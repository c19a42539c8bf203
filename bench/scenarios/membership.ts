import { IrcClient, type Login } from "../client/mod.ts";
import { delay, inParallel } from "../parallel.ts";
import { measure, type Measured, processUsage } from "../process_usage.ts";
import { MusterProcess } from "../servers/mod.ts";
import { mediansByKey } from "../statistics.ts";
import { Members, PARALLEL_CLIENTS, STORMING_CLIENTS } from "./members.ts";
import type { Scenario } from "../scenario.ts";

/** The aim for the memory of an idle registered connection, in KB. */
const IDLE_AIM = 20;

/** Pause before memory is read, in milliseconds. */
const SETTLE_MILLISECONDS = 2000;

const KILOBYTE = 1024;
const MEGABYTE = 1024 * 1024;

/** Agents get their passphrases and log in with them. */
export const LOGIN: Scenario = {
  name: "irc-login",
  anyIrcServer: false,
  describe: ({ agents, rounds }) =>
    `${agents} agents register over HTTP, then log in by SASL PLAIN, ${PARALLEL_CLIENTS} at a ` +
    `time, median of ${rounds}`,
  measure: async ({ agents, rounds }) => {
    await using server = await MusterProcess.start();
    const nicks = Array.from({ length: agents }, (_, index) => `agent${index}`);
    const registered = await measure(server.pid, () => server.createLogins(nicks));
    const measured = [];
    for (let round = 0; round < rounds; round++) {
      measured.push(perClient(await logIn(server, registered.result), agents));
    }
    const { perSecond, serverMillis } = mediansByKey(measured);
    return [
      { name: "registrations", value: agents / registered.seconds, unit: "/s" },
      { name: "logins", value: perSecond, unit: "/s" },
      { name: "server CPU per login", value: serverMillis, unit: "ms" },
    ];
  },
};

/** Everybody joins one channel at once, and all members see each join. */
export const JOIN: Scenario = {
  name: "irc-join",
  anyIrcServer: true,
  describe: ({ members, rounds }) =>
    `${members} clients join one channel, ${PARALLEL_CLIENTS} at a time, until each has its ` +
    `NAMES and every JOIN, median of ${rounds}`,
  measure: async ({ members: count, rounds }, kind) => {
    await using server = await kind.start();
    const { capabilities } = server;
    using members = await Members.connect(server, { count, senders: 0, capabilities });
    const measured = [];
    for (let round = 0; round < rounds; round++) {
      const join = () => members.join(`#round${round}`);
      const { seconds, serverSeconds } = await measure(server.pid, join);
      measured.push({ seconds, serverSeconds });
    }
    const { seconds, serverSeconds } = mediansByKey(measured);
    return [
      { name: "time", value: seconds, unit: "s" },
      { name: "server CPU", value: serverSeconds, unit: "s" },
    ];
  },
};

/** The cost of many connections at once, and of keeping them while they are silent. */
export const IDLE: Scenario = {
  name: "irc-idle",
  anyIrcServer: true,
  describe: ({ idle }) =>
    `${idle} clients connect, ${STORMING_CLIENTS} at a time, log in by SASL PLAIN where the server ` +
    "keeps accounts, and stay",
  measure: async ({ idle: count }, kind) => {
    await using server = await kind.start();
    const { capabilities, pid } = server;
    const nicks = Array.from({ length: count }, (_, index) => `member${index}`);
    const logins = await server.createLogins(nicks);
    const before = await processUsage(pid);
    const connected = await measure(pid, () => Members.storm(server, logins, capabilities));
    using members = connected.result;
    await delay(SETTLE_MILLISECONDS);
    const after = await processUsage(pid);
    await members.ping();
    const { perSecond, serverMillis } = perClient(connected, count);
    const grown = after.residentBytes - before.residentBytes;
    return [
      { name: "memory per connection", value: grown / count / KILOBYTE, unit: "KB", aim: IDLE_AIM },
      { name: "memory (RSS) before", value: before.residentBytes / MEGABYTE, unit: "MB" },
      { name: "memory (RSS) with all", value: after.residentBytes / MEGABYTE, unit: "MB" },
      { name: "connects", value: perSecond, unit: "/s" },
      { name: "server CPU per connect", value: serverMillis, unit: "ms" },
    ];
  },
};

/** Logs everybody in at once, and out again after the measurement. */
async function logIn(
  server: MusterProcess,
  logins: readonly Login[],
): Promise<Measured<IrcClient[]>> {
  const connect = (login: Login) => IrcClient.connect(server.irc, login);
  const measured = await measure(server.pid, () => inParallel(logins, PARALLEL_CLIENTS, connect));
  for (const client of measured.result) client.close();
  return measured;
}

function perClient({ seconds, serverSeconds }: Measured<unknown>, count: number) {
  return { perSecond: count / seconds, serverMillis: serverSeconds * 1000 / count };
}
