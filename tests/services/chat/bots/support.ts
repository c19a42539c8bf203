/** The bots on the services of the daemon, with their IRC server in memory. */
import { type BotDefinition, Bots } from "../../../../services/chat/bots/mod.ts";
import { ServerVoices } from "../../../../services/chat/bots/mod.ts";
import type { JsonObject } from "../../../../services/chat/policies/mod.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import type { TestServicesOptions } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";
import { IrcUser } from "../bridge/support.ts";

/** The password of every person and admin of a test. */
export const PASSWORD = "correct horse battery";

/** What a test of bots gets. */
export class BotWorld {
  readonly services: TestServices;
  readonly bots: Bots;

  constructor(services: TestServices, bots: Bots) {
    this.services = services;
    this.bots = bots;
  }

  /** Changes policies, and waits until the bots have taken them. */
  async policies(patch: JsonObject): Promise<void> {
    await this.services.policies.change(patch, BY_OPERATOR);
    await this.bots.idle();
  }

  /** Enables a bot with settings, and waits until it runs. */
  async enable(bot: string, settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.policies({ [bot]: { enabled: true, ...settings as JsonObject } });
    await until(() => this.condition(bot) === "running");
  }

  condition(bot: string): string | undefined {
    return this.bots.list().find(({ name }) => name === bot)?.condition;
  }

  /** An IRC client without an account, in a channel. */
  async guest(nick: string, channel = "#general"): Promise<IrcUser> {
    const user = new IrcUser(this.services.server, nick);
    await user.join(channel);
    return user;
  }

  /** The IRC client of a new agent, in a channel. */
  async agent(nick: string, channel = "#general"): Promise<IrcUser> {
    const password = await anAgent(this.services, nick);
    return await this.#loggedIn(nick, password, channel);
  }

  /** The IRC client of a new person, in a channel. */
  async person(nick: string, channel = "#general"): Promise<IrcUser> {
    await this.services.ircAccounts.create({ account: nick, password: PASSWORD }, BY_OPERATOR);
    return await this.#loggedIn(nick, PASSWORD, channel);
  }

  /** The IRC client of a new admin, in a channel. */
  async admin(nick: string, channel = "#general"): Promise<IrcUser> {
    await this.services.admins.create({ username: nick, password: PASSWORD }, BY_OPERATOR);
    return await this.#loggedIn(nick, PASSWORD, channel);
  }

  /** The data of the events of a type, the oldest first. */
  async events(type: string): Promise<unknown[]> {
    await this.bots.idle();
    const rows = await this.services.database.tables.selectFrom("events").select("data")
      .where("type", "=", type).orderBy("seq").execute();
    return rows.map(({ data }) => JSON.parse(data));
  }

  async #loggedIn(nick: string, password: string, channel: string): Promise<IrcUser> {
    const user = new IrcUser(this.services.server, nick, { capabilities: "sasl", password });
    await user.expect(/ 001 /);
    await user.join(channel);
    return user;
  }
}

/** Runs a test with the bots of the program, on an IRC server in memory with #general. */
export async function withBots(
  run: (world: BotWorld) => Promise<void>,
  options: TestServicesOptions = {},
): Promise<void> {
  const config = { ...options.config, bridge: { enabled: true, ...options.config?.["bridge"] } };
  await withServices(async (services) => {
    await services.bridge?.whenReady();
    if (services.bots === null) throw new Error("There are no bots");
    await run(new BotWorld(services, services.bots));
  }, { ...options, config, ircServer: true });
}

/** The services of a test, with the bridge. */
export type OwnServices = TestServices & { readonly bridge: NonNullable<TestServices["bridge"]> };

/** Runs a test with bots of its own in place of the program's. */
export async function withOwnBots(
  definitionsOf: (
    services: OwnServices,
  ) => readonly BotDefinition[] | Promise<readonly BotDefinition[]>,
  run: (world: BotWorld) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withBots(async ({ services }) => {
    await services.bots?.stop();
    const { accounts, bridge, database, llm, log, policies, server } = services;
    if (bridge === null) throw new Error("There is no bridge");
    const bots = new Bots({
      sources: (await definitionsOf({ ...services, bridge }))
        .map((bot) => ({ name: bot.name, load: () => Promise.resolve(bot) })),
      accounts,
      networkAccounts: accounts,
      bridge,
      database,
      guard: () => [],
      gateway: llm.gateway,
      policies,
      log,
      mayRead: ({ nick }, channel) => bridge.sees(nick, channel),
      scheduler: services.clock,
      voices: new ServerVoices(server, services.botPort),
    });
    bots.start();
    try {
      await run(new BotWorld(services, bots));
    } finally {
      await bots.stop();
    }
  }, options);
}
