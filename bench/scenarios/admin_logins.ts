import { LOGIN_LIMIT, type LoginAnswer, LoginCrowd, loopbackAddresses } from "../client/mod.ts";
import { delay, spin } from "../parallel.ts";
import { MusterProcess } from "../servers/mod.ts";
import { mediansByKey, percentile } from "../statistics.ts";
import { PACED_SECONDS, sendAtRateWhile } from "../pace.ts";
import { postMessage, Readers } from "./readers.ts";
import type { Figure, Scenario, Sizes } from "../scenario.ts";

/** The aim for a message's delay by logins, in milliseconds. */
const DELAY_AIM = 50;

/** Event streams that are read. */
const READERS = 5;

/** Posters that take turns, so that a poster's next post cannot overtake a slow previous one. */
const POSTERS = 50;

/** Passwords that muster checks at a time, each on a core. */
const HASHING_THREADS = 2;

const ADMIN = { username: "bench", password: "correct horse battery staple" };

/** Logged in; too many from this address; too many at this moment. */
const ANSWERS = [200, 429, 503] as const;

/** Messages arrive in time while many admins log in, whose passwords take much work to check. */
export const ADMIN_LOGINS: Scenario = {
  name: "admin-logins",
  anyIrcServer: false,
  describe: ({ logins, rate, rounds }) =>
    `${rate} messages/s, from POST to each of ${READERS} streams: while nobody logs in, the same ` +
    `beside ${HASHING_THREADS} busy threads of the bench, and while ${logins} log in at once, each ` +
    `from a socket bound to a loopback address of its own; latencies of all ${rounds} rounds ` +
    "together, logins as medians",
  measure: async (sizes) => {
    await using server = await MusterProcess.start();
    await createAdmin(server);
    using readers = await Readers.open(server, READERS);
    const rounds: Round[] = [];
    for (let round = 0; round < sizes.rounds; round++) {
      rounds.push(await measureRound(server, readers, sizes, round));
    }
    const calm = together(rounds.map((round) => round.calm));
    const crowded = together(rounds.map((round) => round.crowded));
    const busy = together(rounds.map((round) => round.busy));
    return [
      ...describeLatencies("without logins", calm),
      ...describeLatencies("beside busy threads", crowded),
      ...describeLatencies("during logins", busy),
      {
        name: "longest delay by logins",
        value: percentile(busy, 1) - percentile(calm, 0.5),
        unit: "ms",
        aim: DELAY_AIM,
      },
      ...describeAnswers(rounds.map(({ answers }) => answers)),
    ];
  },
};

/** Latencies before and while everybody logs in once, in milliseconds. */
interface Round {
  readonly calm: Float32Array;
  /** The same beside as many busy threads as check passwords. */
  readonly crowded: Float32Array;
  readonly busy: Float32Array;
  readonly answers: readonly LoginAnswer[];
}

async function createAdmin(server: MusterProcess): Promise<void> {
  const response = await server.post("/v1/admins", ADMIN);
  await response.body?.cancel();
}

/** Measures once, with addresses that no other round uses. */
async function measureRound(
  server: MusterProcess,
  readers: Readers,
  { logins, rate }: Sizes,
  round: number,
): Promise<Round> {
  const { hostname, port } = server.api;
  using crowd = await LoginCrowd.gather({
    ...ADMIN,
    url: `http://${hostname}:${port}/login`,
    addresses: loopbackAddresses(round * logins, logins),
  });
  const post = <T>(work: () => Promise<T>) => postDuring(server, readers, rate, work);
  const calm = await post(() => delay(PACED_SECONDS * 1000));
  const crowded = await post(() => spin(HASHING_THREADS, PACED_SECONDS * 1000));
  const busy = await post(() => crowd.logIn());
  return {
    calm: calm.latencies,
    crowded: crowded.latencies,
    busy: busy.latencies,
    answers: busy.result,
  };
}

/** Posts at the rate while some work goes on; returns the latencies of all deliveries. */
async function postDuring<Result>(
  server: MusterProcess,
  readers: Readers,
  rate: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; latencies: Float32Array }> {
  const limit = rate * LOGIN_LIMIT;
  const ledger = readers.expect(POSTERS, Math.ceil(limit / POSTERS));
  let isOver = false;
  const [result, count] = await Promise.all([
    work().finally(() => isOver = true),
    sendAtRateWhile(
      rate,
      (index) => !isOver && index < limit,
      (index) => postMessage(server, ledger.stamp(index % POSTERS)),
    ),
  ]);
  await ledger.reached(count * readers.count);
  return { result, latencies: ledger.latencies };
}

function together(parts: readonly Float32Array[]): Float32Array {
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

function describeLatencies(when: string, latencies: Float32Array): Figure[] {
  return [
    { name: `latency p50 ${when}`, value: percentile(latencies, 0.5), unit: "ms" },
    { name: `latency p99 ${when}`, value: percentile(latencies, 0.99), unit: "ms" },
    { name: `latency max ${when}`, value: percentile(latencies, 1), unit: "ms" },
  ];
}

/** @throws Error if a login got a wrong answer */
function describeAnswers(rounds: readonly (readonly LoginAnswer[])[]): Figure[] {
  const wrong = rounds.flat().find(({ status }) => !ANSWERS.some((known) => known === status));
  if (wrong !== undefined) throw new Error(`A login was answered ${wrong.status}`);
  return ANSWERS.flatMap((status) => {
    const { count, last } = mediansByKey(rounds.map((answers) => {
      const times = answers.filter((answer) => answer.status === status)
        .map(({ milliseconds }) => milliseconds);
      return { count: times.length, last: Math.max(0, ...times) };
    }));
    const figures: Figure[] = [{ name: `logins answered ${status}`, value: count, unit: "" }];
    if (count > 0) figures.push({ name: `last ${status} after`, value: last, unit: "ms" });
    return figures;
  });
}
