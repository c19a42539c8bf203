import { bearer, type World } from "./world.ts";

/** The pause between two tokens, in milliseconds. */
const ISSUE_EVERY = 500;

/** Tokens that are issued at one node, used at all, and revoked at another. */
export class TokenTrial {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Issues and revokes until the end. */
  async run(): Promise<void> {
    const world = this.#world;
    for (let count = 0; !world.isEnding; count++) {
      await this.#try(`trial-${count}`);
      await world.pause(world.random.below(2 * ISSUE_EVERY));
    }
  }

  async #try(name: string): Promise<void> {
    const world = this.#world;
    const issuer = world.choose();
    const owner = world.random.pick(world.onHttp).nick;
    const { token: operator } = world.operator(issuer);
    const issued = await world.send(issuer, bearer(operator), "POST /v1/tokens", {
      owner,
      name,
      scopes: ["read"],
    });
    if (issued.status !== 201) return this.#check("POST /v1/tokens", issued.status, issued.text);
    const { id, token } = JSON.parse(issued.text) as { id: string; token: string };
    await this.#use(token, 200, `issued at ${issuer}`);
    const revoker = world.choose(issuer);
    const request = `DELETE /v1/tokens/${id}`;
    const who = bearer(world.operator(revoker).token);
    const revoked = await world.send(revoker, who, request);
    if (revoked.status !== 204) return this.#check(request, revoked.status, revoked.text);
    await this.#use(token, 401, `revoked at ${revoker}`);
    world.count("tokens revoked");
  }

  /** Every node that answers must know of the token what the last answer said. */
  async #use(token: string, expected: number, why: string): Promise<void> {
    const world = this.#world;
    // Also at nodes to which no client turns: they run.
    const nodes = world.cluster.names.filter((name) => world.cluster.runs(name));
    await Promise.all(nodes.map(async (node) => {
      const { status, text } = await world.send(node, bearer(token), "GET /v1/status");
      if (![expected, 0, 503].includes(status)) {
        world.fault(`${node} answers ${status} to a token that was ${why}: ${text}`);
      }
    }));
  }

  #check(request: string, status: number, text: string): void {
    if (![0, 503, 504].includes(status)) this.#world.fault(`${request}: ${status} ${text}`);
  }
}
