import type { Credentials } from "../../support/api.ts";
import type { IrcClient } from "../../support/irc_client.ts";
import { basic, bearer, type World } from "./world.ts";

/** The pause between two agents, in milliseconds. */
const REVOKE_EVERY = 5000;

/** Answers that leave open what happened. */
const UNKNOWN: readonly number[] = [0, 503, 504];

/**
 * Agents that register at one node, use all of them and IRC, and are revoked at another one: when
 * that is answered, nothing lets them in.
 */
export class Outcasts {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Registers and revokes until the end. */
  async run(): Promise<void> {
    const world = this.#world;
    for (let count = 0; !world.isEnding; count++) {
      await this.#try(`outcast${count}`);
      await world.pause(REVOKE_EVERY / 2 + world.random.below(REVOKE_EVERY));
    }
  }

  async #try(nick: string): Promise<void> {
    const world = this.#world;
    const registrar = world.choose();
    const operator = bearer(world.token);
    const made = await world.send(registrar, operator, "POST /v1/agents/register", { nick });
    if (made.status !== 200) return this.#check("register", made.status, made.text);
    const { credentials } = JSON.parse(made.text) as { credentials: Credentials };
    await this.#use(credentials, 200, `registered at ${registrar}`);
    const client = await this.#logIn(credentials, nick);
    if (client === "late") return;
    if (client === null) return world.fault(`IRC refuses ${nick}, registered at ${registrar}`);
    await using _ = client;
    await using stream = await this.#listen(credentials);
    const revoker = world.choose(registrar);
    const request = `POST /v1/agents/${nick}/revoke`;
    const revoked = await world.send(revoker, operator, request);
    if (revoked.status >= 300 || revoked.status === 0) {
      return this.#check(request, revoked.status, revoked.text);
    }
    const after = `revoked at ${revoker}`;
    await Promise.all([
      this.#use(credentials, 401, after),
      this.#knock(credentials, after),
      this.#ends(client.ended(), `${nick}, ${after}, stays on IRC`),
      ...stream === null
        ? []
        : [this.#ends(stream.ended, `The stream of ${nick}, ${after}, goes on`)],
    ]);
    world.count("agents revoked");
  }

  /** Every node that answers must know of the agent what the last answer said. */
  async #use(credentials: Credentials, expected: number, why: string): Promise<void> {
    const world = this.#world;
    const nodes = world.cluster.names.filter((name) => world.cluster.runs(name));
    await Promise.all(nodes.map(async (node) => {
      const { status, text } = await world.send(node, basic(credentials), "GET /v1/status");
      if (![expected, 0, 503].includes(status)) {
        world.fault(`${node} answers ${status} to ${credentials.nick}, ${why}: ${text}`);
      }
    }));
  }

  /** A new login to IRC. */
  async #knock({ nick, passphrase }: Credentials, why: string): Promise<void> {
    const world = this.#world;
    const client = await this.#logIn({ nick, passphrase }, `${nick}-again`);
    if (client === null || client === "late") return;
    world.fault(`IRC lets ${nick} in, ${why}`);
    await client[Symbol.asyncDispose]();
  }

  /** Logs in to IRC; null if it refuses, `late` if its services do not answer in time. */
  async #logIn({ nick, passphrase }: Credentials, as: string): Promise<IrcClient | "late" | null> {
    const world = this.#world;
    try {
      return await world.cluster.network.logIn(nick, passphrase, as);
    } catch {
      world.count("logins to IRC that were late");
      return "late";
    }
  }

  async #ends(end: Promise<unknown>, fault: string): Promise<void> {
    let timer;
    const late = new Promise<string>((resolve) =>
      timer = setTimeout(() => resolve("late"), 10_000)
    );
    if (await Promise.race([end.then(() => "ended"), late]) === "late") this.#world.fault(fault);
    clearTimeout(timer);
  }

  /** Opens a stream of the agent; null if the node refuses at the moment. */
  async #listen(credentials: Credentials) {
    const world = this.#world;
    const abort = new AbortController();
    const url = `${world.cluster.addressOf(world.choose())}/v1/channels/general/stream`;
    const headers = { authorization: basic(credentials), accept: "text/event-stream" };
    const response = await fetch(url, { headers, signal: abort.signal }).catch(() => null);
    if (response === null || response.status !== 200) {
      await response?.body?.cancel();
      return null;
    }
    const ended = response.text().catch(() => {});
    return {
      ended,
      async [Symbol.asyncDispose]() {
        abort.abort();
        await ended;
      },
    };
  }

  #check(request: string, status: number, text: string): void {
    if (!UNKNOWN.includes(status)) this.#world.fault(`${request}: ${status} ${text}`);
  }
}
