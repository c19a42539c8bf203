import { HttpClient, type Login } from "../client/mod.ts";
import { delay, inParallel } from "../parallel.ts";
import { measure } from "../process_usage.ts";
import { MusterProcess } from "../servers/mod.ts";
import type { Scenario } from "../scenario.ts";
import { PARALLEL_CLIENTS } from "./members.ts";

/** The longest wait that a request may ask for, in seconds; each agent asks again after it. */
const WAIT_SECONDS = 60;

/** How long the server settles first: every agent has asked again, and garbage is collected. */
const SETTLING_SECONDS = 75;

/** The aim for all agents together, in percent of a core. */
const AIM = 1;

/** Agents wait for messages that do not come. */
export const IDLE_INBOXES: Scenario = {
  name: "idle-inboxes",
  anyIrcServer: false,
  describe: ({ waiting }) =>
    `${waiting} agents wait on their inboxes with wait_seconds=${WAIT_SECONDS}, and ask again at ` +
    `its end; processor time over ${WAIT_SECONDS} s, after ${SETTLING_SECONDS} s`,
  measure: async ({ waiting: count }) => {
    await using server = await MusterProcess.start();
    const logins = await server.createLogins(
      Array.from({ length: count }, (_, index) => `agent${index}`),
    );
    using readers = await InboxReaders.open(server, logins);
    await delay(SETTLING_SECONDS * 1000);
    const before = readers.answers;
    const waiting = await measure(server.pid, () => delay(WAIT_SECONDS * 1000));
    const renewals = readers.answers - before;
    readers.check();
    return [
      {
        name: "server CPU",
        value: 100 * waiting.serverSeconds / waiting.seconds,
        unit: "% of a core",
        aim: AIM,
      },
      { name: "waits that end", value: renewals / waiting.seconds, unit: "/s" },
      {
        name: "server CPU per wait",
        value: waiting.serverSeconds * 1e6 / renewals,
        unit: "µs",
      },
    ];
  },
};

/** Agents of which each waits on its own inbox, always, over a connection that it keeps. */
class InboxReaders implements Disposable {
  readonly #clients: readonly HttpClient[];
  #answers = 0;
  #failure: string | null = null;
  #closed = false;

  private constructor(clients: readonly HttpClient[]) {
    this.#clients = clients;
  }

  static async open({ api }: MusterProcess, logins: readonly Login[]): Promise<InboxReaders> {
    const open = () => HttpClient.open(api);
    const readers = new InboxReaders(await inParallel(logins, PARALLEL_CLIENTS, open));
    logins.forEach(({ nick, passphrase = "" }, index) => {
      const requestOf = (seconds: number) =>
        HttpClient.format({
          method: "GET",
          path: `/v1/agents/${nick}/messages?wait_seconds=${seconds}`,
          login: { nick, passphrase },
        });
      // As agents that came at any time, they do not all ask again at the same moment.
      const first = requestOf(1 + index % WAIT_SECONDS);
      void readers.#read(index, first, requestOf(WAIT_SECONDS));
    });
    return readers;
  }

  /** The waits that ended. */
  get answers(): number {
    return this.#answers;
  }

  /** @throws Error if an agent was refused, got a message, or lost its connection */
  check(): void {
    if (this.#failure !== null) throw new Error(this.#failure);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const client of this.#clients) client[Symbol.dispose]();
  }

  async #read(index: number, first: string, next: string): Promise<void> {
    const client = this.#clients[index];
    try {
      for (let request = first; client !== undefined; request = next) {
        const { status, text } = await client.ask(request, true);
        if (status !== 200 || text !== "[]") throw new Error(`Answered ${status}: ${text}`);
        this.#answers++;
      }
    } catch (error) {
      if (!this.#closed) this.#failure ??= String(error);
    }
  }
}
