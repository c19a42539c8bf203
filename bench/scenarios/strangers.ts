import { IrcClient, Strangers } from "../client/mod.ts";
import { delay } from "../parallel.ts";
import { processUsage } from "../process_usage.ts";
import { MusterProcess } from "../servers/mod.ts";
import { percentile } from "../statistics.ts";
import { sendAtRate } from "../pace.ts";
import type { Figure, Scenario } from "../scenario.ts";

/** Silent connections for each half-sent request. */
const SILENT_PER_HALF = 5;

const NEW_PER_SECOND = 500;

/** An agent's requests of each kind per second. */
const ASKED_PER_SECOND = 10;

/** Time before the strangers come, in seconds. */
const CALM_SECONDS = 10;

/**
 * Time from the strangers' end to the next reading of memory, in seconds: an idle server collects
 * garbage.
 */
const RECOVERY_SECONDS = 30;

/** The aim for an agent's answers, in milliseconds. */
const ANSWER_AIM = 100;

/** Agents are answered although strangers hold and open connections. */
export const STRANGERS: Scenario = {
  name: "strangers",
  anyIrcServer: false,
  describe: ({ strangers, attack }) =>
    `an agent asks over HTTP and IRC while strangers hold ${strangers} silent connections and ` +
    `${halfOf(strangers)} half requests and open ${NEW_PER_SECOND}/s for ${attack} s`,
  measure: async ({ strangers: silent, attack }) => {
    await using server = await MusterProcess.start({
      MUSTER_API_ADDR: "0.0.0.0:0",
      MUSTER_IRC_LISTEN: "0.0.0.0:0",
    });
    const agent = await Agent.start(server);
    const calm = await agent.ask(CALM_SECONDS);
    const before = await processUsage(server.pid);
    let peak = before;
    let attacked: Answers;
    {
      await using _crowd = await Strangers.open({
        httpPort: server.api.port,
        ircPort: server.irc.port,
        silent,
        half: halfOf(silent),
        newPerSecond: NEW_PER_SECOND,
      });
      attacked = await agent.ask(attack);
      peak = await processUsage(server.pid);
    }
    await delay(RECOVERY_SECONDS * 1000);
    const after = await processUsage(server.pid);
    agent.close();
    return [
      ...figuresOf("calm", calm),
      ...figuresOf("attacked", attacked, ANSWER_AIM),
      { name: "memory before", value: before.residentBytes / 1e6, unit: "MB" },
      { name: "memory during", value: peak.residentBytes / 1e6, unit: "MB" },
      { name: "memory after", value: after.residentBytes / 1e6, unit: "MB" },
    ];
  },
};

function halfOf(silent: number): number {
  return Math.ceil(silent / SILENT_PER_HALF);
}

/** The time of each answer in milliseconds, by the kind of request. */
interface Answers {
  readonly kept: Float32Array;
  readonly fresh: Float32Array;
  readonly irc: Float32Array;
}

function figuresOf(when: string, { kept, fresh, irc }: Answers, aim?: number): Figure[] {
  const kinds = [
    ["HTTP", kept],
    ["HTTP on a new connection", fresh],
    ["IRC", irc],
  ] as const;
  const unit = "ms";
  return kinds.flatMap(([kind, times]) => [
    { name: `${kind} p50, ${when}`, value: percentile(times, 0.5), unit },
    {
      name: `${kind} p99, ${when}`,
      value: percentile(times, 0.99),
      unit,
      ...aim === undefined ? {} : { aim },
    },
  ]);
}

/** An agent with a credential, over HTTP and IRC. */
class Agent {
  readonly #server: MusterProcess;
  readonly #irc: IrcClient;
  readonly #keeping = Deno.createHttpClient({});
  #pinged: Promise<void> = Promise.resolve();
  readonly #closing = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

  private constructor(server: MusterProcess, irc: IrcClient) {
    this.#server = server;
    this.#irc = irc;
  }

  static async start(server: MusterProcess): Promise<Agent> {
    const [login] = await server.createLogins(["agent"]);
    if (login === undefined) throw new Error("The agent was not registered");
    const { port } = server.irc;
    return new Agent(server, await IrcClient.connect({ hostname: "127.0.0.1", port }, login));
  }

  /** Sends requests of each kind at a fixed rate. @throws Error if there is no answer */
  async ask(seconds: number): Promise<Answers> {
    const count = seconds * ASKED_PER_SECOND;
    const ask = async (once: () => Promise<void>) => {
      const times = new Float32Array(count);
      await sendAtRate(ASKED_PER_SECOND, count, async (index) => {
        const askedAt = performance.now();
        await once();
        times[index] = performance.now() - askedAt;
      });
      return times;
    };
    const [kept, fresh, irc] = await Promise.all([
      ask(() => this.#get(this.#keeping)),
      ask(() => this.#get(this.#closing)),
      ask(() => this.#ping()),
    ]);
    return { kept, fresh, irc };
  }

  close(): void {
    this.#keeping.close();
    this.#closing.close();
    this.#irc.close();
  }

  /** A client waits for one answer at a time. */
  #ping(): Promise<void> {
    this.#pinged = this.#pinged.then(() => this.#irc.ping());
    return this.#pinged;
  }

  async #get(client: Deno.HttpClient): Promise<void> {
    const { api, token } = this.#server;
    const response = await fetch(`http://127.0.0.1:${api.port}/v1/agents`, {
      headers: { authorization: `Bearer ${token}` },
      client,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`GET /v1/agents was answered ${response.status}`);
  }
}
