import { measure } from "../process_usage.ts";
import { type CoordinationServer, MusterProcess } from "../servers/mod.ts";
import { mediansByKey, percentile } from "../statistics.ts";
import { PACED_SECONDS, sendAtRate, sendInWindows } from "../pace.ts";
import { postMessage, Readers } from "./readers.ts";
import type { Scenario } from "../scenario.ts";

/** Posters at the same time. */
const POSTERS = 4;

/** Posts of one poster, in sequence, before it waits for the readers. */
const POSTS_PER_WINDOW = 5;

/** The aim for one event to one reader, in µs of the server's processor time. */
const EVENT_AIM = 15;

/** Posted messages reach every reader of the channel's event stream. */
export const STREAMS: Scenario = {
  name: "streams",
  anyIrcServer: false,
  describe: ({ readers, events, rounds, rate }) =>
    `${events} messages posted to ${readers} readers; then ${rate} messages/s for ` +
    `${PACED_SECONDS} s, from POST to each reader's read; medians of ${rounds}`,
  measure: async ({ readers: count, events, rounds, rate }) => {
    await using server = await MusterProcess.start();
    using readers = await Readers.open(server, count);
    const fullRounds = [];
    for (let round = 0; round < rounds; round++) {
      fullRounds.push(await postInWindows(server, readers, events));
    }
    const pacedRounds = [];
    for (let round = 0; round < rounds; round++) {
      pacedRounds.push(await postAtRate(server, readers, rate));
    }
    const full = mediansByKey(fullRounds);
    const paced = mediansByKey(pacedRounds);
    return [
      { name: "events", value: full.perSecond, unit: "/s" },
      { name: "server CPU per event", value: full.serverMicros, unit: "µs", aim: EVENT_AIM },
      { name: "client CPU per event", value: full.clientMicros, unit: "µs" },
      { name: "latency p50 at the rate", value: paced.p50, unit: "ms" },
      { name: "latency p99 at the rate", value: paced.p99, unit: "ms" },
      {
        name: "server CPU per event at the rate",
        value: paced.serverMicros,
        unit: "µs",
        aim: EVENT_AIM,
      },
    ];
  },
};

/** Posts a number of messages to the readers, as fast as they are delivered. */
export async function postInWindows(server: CoordinationServer, readers: Readers, events: number) {
  const windows = Math.ceil(events / POSTERS / POSTS_PER_WINDOW);
  const ledger = readers.expect(POSTERS, windows * POSTS_PER_WINDOW);
  const postMany = async (poster: number) => {
    for (let post = 0; post < POSTS_PER_WINDOW; post++) {
      await postMessage(server, ledger.stamp(poster));
    }
  };
  const deliveriesEach = POSTERS * POSTS_PER_WINDOW * readers.count;
  const send = async () => {
    await Promise.all(Array.from({ length: POSTERS }, (_, poster) => postMany(poster)));
  };
  const cost = await measure(
    server.pids,
    () => sendInWindows(ledger, { count: windows, deliveriesEach, send }),
  );
  return {
    perSecond: ledger.delivered / cost.seconds,
    serverMicros: cost.serverSeconds * 1e6 / ledger.delivered,
    clientMicros: cost.clientSeconds * 1e6 / ledger.delivered,
  };
}

async function postAtRate(server: MusterProcess, readers: Readers, rate: number) {
  const messages = rate * PACED_SECONDS;
  const ledger = readers.expect(POSTERS, Math.ceil(messages / POSTERS));
  const cost = await measure(server.pids, async () => {
    await sendAtRate(
      rate,
      messages,
      (index) => postMessage(server, ledger.stamp(index % POSTERS)),
    );
    await ledger.reached(messages * readers.count);
  });
  return {
    p50: percentile(ledger.latencies, 0.5),
    p99: percentile(ledger.latencies, 0.99),
    serverMicros: cost.serverSeconds * 1e6 / ledger.delivered,
  };
}
