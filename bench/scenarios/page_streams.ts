import type { EventStream } from "../client/mod.ts";
import { MusterProcess } from "../servers/mod.ts";
import { mediansByKey } from "../statistics.ts";
import type { Scenario } from "../scenario.ts";
import { CHANNEL, Readers } from "./readers.ts";
import { postInWindows } from "./streams.ts";

/** The admins; each has the same number of pages open. */
const ADMINS = 10;

const PASSWORD = "correct horse battery staple";

/** The aim for the cost of an event to an open page, as a multiple of that to a raw stream. */
const RATIO_AIM = 1.5;

/** What a channel's open pages cost beside raw streams. */
export const PAGE_STREAMS: Scenario = {
  name: "page-streams",
  anyIrcServer: false,
  describe: ({ readers, events, rounds }) =>
    `${events} messages posted to ${readers} raw streams and to the streams of as many open pages ` +
    `of ${ADMINS} admins, in turns; medians of ${rounds}`,
  measure: async ({ readers: count, events, rounds }) => {
    await using server = await MusterProcess.start();
    const cookies: string[] = [];
    for (let number = 0; number < ADMINS; number++) cookies.push(await logIn(server, number));
    const pages = Array.from({ length: count }, (_, index): EventStream => ({
      address: server.api,
      path: `/live/channels/${CHANNEL}`,
      token: "",
      cookie: cookies[index % ADMINS] ?? "",
    }));
    const turns = [];
    for (let round = 0; round < rounds; round++) {
      const raw = await postTo(server, count, events);
      const shown = await postTo(server, count, events, pages);
      turns.push({ raw, shown, ratio: shown / raw });
    }
    const { raw, shown, ratio } = mediansByKey(turns);
    return [
      { name: "server CPU per event to a stream", value: raw, unit: "µs" },
      { name: "server CPU per event to a page", value: shown, unit: "µs" },
      { name: "a page in streams", value: ratio, unit: "×", aim: RATIO_AIM },
    ];
  },
};

/** Server CPU per event, in µs. */
async function postTo(
  server: MusterProcess,
  count: number,
  events: number,
  streams?: readonly EventStream[],
): Promise<number> {
  using readers = await Readers.open(server, count, streams);
  return (await postInWindows(server, readers, events)).serverMicros;
}

/** Creates an admin and logs it in. Returns the cookie of its session. */
async function logIn(server: MusterProcess, number: number): Promise<string> {
  const admin = { username: `bench${number}`, password: PASSWORD };
  await (await server.post("/v1/admins", admin)).body?.cancel();
  const response = await server.post("/login", admin);
  await response.body?.cancel();
  const [cookie = ""] = response.headers.get("set-cookie")?.split(";") ?? [];
  if (cookie === "") throw new Error(`The login was answered ${response.status}`);
  return cookie;
}
