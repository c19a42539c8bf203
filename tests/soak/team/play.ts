/** A day of a team in the real program, played by a script. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { registerAgent } from "../../support/api.ts";
import { TestNetwork } from "../../support/network.ts";
import { startProgram } from "../../support/program.ts";
import { withFolder } from "../../support/temporary.ts";
import { FakeProvider } from "../../services/models/llm/support/provider.ts";
import { flood, herald, incident, shepherd } from "./acting_bots.ts";
import { Ledger } from "./ledger.ts";
import { Mail } from "./mail.ts";
import { halt, injections, openProject, parrot, tickets } from "./orders.ts";
import {
  auditbot,
  oracle,
  type Scene,
  scribe,
  scroll,
  SUMMARY,
  systembot,
} from "./reading_bots.ts";
import type { SeenEvent } from "./sight.ts";
import { Talk } from "./talk.ts";
import { Team } from "./team.ts";

/** The least time from one round to the next, in milliseconds: an alarm comes once a minute. */
const ROUND_MS = 20_000;

/** The least time between two lines of one person, in milliseconds: snitch calls more a flood. */
const TURN_MS = 1000;

/** The agent that never reads its messages. */
const AWAY = "sleeper";

const BRIDGE_PASSWORD = "password-of-the-bridge";

/** The settings of the bots, without those that need muster's own IRC server. */
const POLICIES = {
  auditbot: { throttle_window_sec: 2, throttle_join_max: 2 },
  herald: { channel: "#ops", routes: { deploy: "#deploys" }, rate_limit: 0 },
  oracle: {},
  scribe: { max_age_days: 30 },
  scroll: { rate_limit: 0 },
  sentinel: { cooldown_sec: 0 },
  shepherd: { goals_source: "team" },
  snitch: { flood_messages: 6, flood_window_sec: 5 },
  systembot: {},
};

/** Those that need it. */
const OWN_SERVER_POLICIES = {
  steward: { auto_act: true, cooldown_sec: 0 },
  warden: { burst: 20, cooldown_sec: 600 },
};

/** How a story is played. */
export interface Play {
  /** How long, in minutes; at least one round is played. */
  readonly minutes: number;
  /** Whether on InspIRCd with Atheme. */
  readonly onNetwork?: boolean;
  /** Called with what happens. */
  readonly tell?: (line: string) => void;
}

/** What was played and seen. */
export interface Played {
  readonly rounds: number;
  /** Everything that was said and accepted, and is in the channel. */
  readonly said: number;
  /** The entries of inboxes that were acknowledged, and did not come back. */
  readonly acknowledged: number;
  readonly ledger: Ledger;
}

/**
 * Twenty agents and two people use the real program.
 *
 * @throws AssertionError if something accepted is lost, an injected order acts, or a bot answers a
 * bot more than once; Error if a bot does not do its part
 */
export async function play({ minutes, onNetwork = false, tell = () => {} }: Play): Promise<Played> {
  await using open = new AsyncDisposableStack();
  const network = onNetwork ? open.use(await TestNetwork.start({ services: "atheme" })) : null;
  await network?.register("bridge", BRIDGE_PASSWORD);
  const model = open.use(
    new FakeProvider(() =>
      Response.json({
        id: "1",
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content: SUMMARY } }],
        usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
      })
    ),
  );
  let played: Played | null = null;
  await withFolder(async (folder) => {
    await using program = await startProgram({
      folder,
      config: JSON.stringify(configOf(network)),
    });
    await using team = await Team.gather(program, network);
    tell(`${team.agents.length} agents and two people are there`);
    played = await new Story({ team, model, folder, tell }).play(minutes);
    assert.equal(await program.stop(), 0);
  });
  assert.ok(played !== null);
  return played;
}

interface StoryOptions {
  readonly team: Team;
  readonly model: FakeProvider;
  /** The folder of the program. */
  readonly folder: string;
  readonly tell: (line: string) => void;
}

class Story {
  readonly #team: Team;
  readonly #folder: string;
  readonly #tell: (line: string) => void;
  readonly #model: FakeProvider;
  readonly #ledger: Ledger;
  readonly #mail: Mail;
  readonly #talk: Talk;

  constructor(options: StoryOptions) {
    const { team, model, folder, tell } = options;
    this.#team = team;
    this.#folder = folder;
    this.#tell = tell;
    this.#model = model;
    this.#ledger = new Ledger(Object.keys(this.#policies));
    this.#mail = new Mail(team);
    this.#talk = new Talk(team);
  }

  async play(minutes: number): Promise<Played> {
    await this.#begin();
    const end = performance.now() + minutes * 60_000;
    let rounds = 0;
    do {
      const began = performance.now();
      await this.#round(rounds++);
      await this.#talkUntil(Math.min(end, began + ROUND_MS));
    } while (performance.now() < end);
    const said = await this.#talk.check();
    const failed = await this.#team.order<{ events: readonly SeenEvent[] }>(
      "GET /v1/events?types=bot.failed,bot.lines_dropped",
    );
    assert.deepEqual(failed.events, [], "A bot failed");
    for (const agent of this.#team.agents) await this.#mail.read(agent);
    return { rounds, said, acknowledged: this.#mail.acknowledged, ledger: this.#ledger };
  }

  get #policies() {
    return this.#team.network === null ? { ...POLICIES, ...OWN_SERVER_POLICIES } : POLICIES;
  }

  async #begin(): Promise<void> {
    const team = this.#team;
    await openProject(team);
    await registerAgent(team.program, AWAY);
    const backend = { name: "story", provider: "openai", base_url: this.#model.url, models: [] };
    await team.order("POST /v1/llm/backends", backend);
    await leaveOldLog(this.#folder);
    const sight = await team.now();
    const policies = Object.entries(this.#policies).map(([bot, settings]) => [
      bot,
      { enabled: true, ...settings },
    ]);
    await team.order("PUT /v1/settings/policies", Object.fromEntries(policies));
    for (const bot of Object.keys(this.#policies)) {
      const { data } = await sight.logged("bot.started", (event) => event.data["bot"] === bot);
      this.#ledger.note(bot, "events", `bot.started ${JSON.stringify(data)}`);
    }
    const { data } = await sight.logged("scribe.pruned");
    this.#ledger.note("scribe", "events", `scribe.pruned ${JSON.stringify(data)}`);
  }

  /** Lets the team talk as fast as people do. */
  async #talkUntil(end: number): Promise<void> {
    for (let next = performance.now(); next < end; next += TURN_MS) {
      await reached(next);
      await this.#talk.turn();
    }
  }

  async #round(round: number): Promise<void> {
    const scenes: Readonly<Record<string, Scene>> = {
      tickets,
      systembot,
      auditbot,
      scribe,
      scroll,
      oracle: oracle(this.#model),
      herald,
      shepherd,
      incident,
      flood,
      parrot,
      halt,
      injections,
      mail: async () => {
        await this.#mail.round();
        await this.#mail.bounce(AWAY, round);
      },
    };
    const times: string[] = [];
    for (const [name, scene] of Object.entries(scenes)) {
      const began = performance.now();
      try {
        await scene(this.#team, this.#ledger, round);
      } catch (cause) {
        throw new Error(`Round ${round}, ${name}: ${cause instanceof Error ? cause.message : ""}`, {
          cause,
        });
      }
      await this.#talk.turn();
      times.push(`${name} ${Math.round(performance.now() - began)}`);
    }
    this.#tell(`round ${round}, in milliseconds: ${times.join(", ")}`);
  }
}

/** Resolves at a time of `performance.now()`. */
function reached(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
}

/** What was said years ago, in scribe's file: scribe removes it. */
async function leaveOldLog(folder: string): Promise<void> {
  const logs = join(folder, "data", "logs", "scribe");
  await Deno.mkdir(logs, { recursive: true });
  const old = { at: "2020-01-01T00:00:00.000000Z", channel: "#general", nick: "ann", text: "old" };
  await Deno.writeTextFile(join(logs, "scribe.jsonl"), `${JSON.stringify(old)}\n`);
}

function configOf(network: TestNetwork | null) {
  // Messages to those who are away come back after three seconds.
  const inboxes = { queue_hours: 3 / 3600 };
  if (network === null) return { inboxes };
  const { plan, servicesPassword } = network;
  return {
    inboxes,
    irc: {
      mode: "external",
      admins: ["root"],
      addr: `127.0.0.1:${plan.port}`,
      services: {
        kind: "atheme",
        account: plan.servicesAccount,
        password: servicesPassword,
        oper: plan.operator.name,
        oper_password: plan.operator.password,
      },
    },
    bridge: { account: "bridge", password: BRIDGE_PASSWORD, lines_per_second: 50, line_burst: 20 },
  };
}
