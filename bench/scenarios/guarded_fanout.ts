import { delay } from "../parallel.ts";
import { MusterProcess } from "../servers/mod.ts";
import { mediansByKey } from "../statistics.ts";
import type { Scenario } from "../scenario.ts";
import { describeFanout, enter, fanOut } from "./channel_messages.ts";

/** Limits that the senders keep to: warden judges every message and refuses none. */
const GENEROUS = { messages_per_second: 1_000_000, burst: 1_000_000 };

/** How often the bench looks whether warden has started or stopped, in milliseconds. */
const LOOK_MS = 50;

/** The aim for warden's part of a delivery, in percent. */
const AIM = 5;

type Round = Awaited<ReturnType<typeof fanOut>>;

/** The fan-out with and without warden, which judges every message before anybody receives it. */
export const GUARDED_FANOUT: Scenario = {
  name: "irc-fanout-guarded",
  anyIrcServer: false,
  describe: (sizes) => `${describeFanout(sizes)}, without warden and with it, in turns`,
  measure: async (sizes) => {
    await using server = await MusterProcess.start();
    using members = await enter(server, sizes, server.capabilities);
    const alone: Round[] = [];
    const guarded: Round[] = [];
    // The first round of each warms up, and does not count.
    for (let round = 0; round <= sizes.rounds; round++) {
      for (const [enabled, rounds] of [[false, alone], [true, guarded]] as const) {
        await guard(server, enabled);
        const measured = await fanOut(server.pid, members, sizes.messages);
        if (round > 0) rounds.push(measured);
      }
    }
    const [without, withIt] = [mediansByKey(alone), mediansByKey(guarded)];
    const more = (withIt.serverMicros / without.serverMicros - 1) * 100;
    return [
      { name: "server CPU per delivery, without", value: without.serverMicros, unit: "µs" },
      { name: "server CPU per delivery, with it", value: withIt.serverMicros, unit: "µs" },
      { name: "warden adds", value: more, unit: "%", aim: AIM },
    ];
  },
};

/** Starts or stops warden, and waits until it has. */
async function guard(server: MusterProcess, enabled: boolean): Promise<void> {
  const { cursor } = await get<{ cursor: number }>(server, "/v1/events?limit=1");
  const { warden } = await get<{ warden?: { enabled: boolean } }>(server, "/v1/settings/policies");
  if ((warden?.enabled ?? false) === enabled) return;
  const { api: { hostname, port }, token } = server;
  const response = await fetch(`http://${hostname}:${port}/v1/settings/policies`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ warden: { enabled, ...GENEROUS } }),
  });
  if (!response.ok) throw new Error(`The policy was refused: ${await response.text()}`);
  await response.body?.cancel();
  const type = enabled ? "bot.started" : "bot.stopped";
  for (;;) {
    const path = `/v1/events?types=${type}&after=${cursor}`;
    if ((await get<{ events: readonly unknown[] }>(server, path)).events.length > 0) return;
    await delay(LOOK_MS);
  }
}

async function get<Body>({ api, token }: MusterProcess, path: string): Promise<Body> {
  const response = await fetch(`http://${api.hostname}:${api.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`GET ${path} was answered ${response.status}`);
  return await response.json();
}
