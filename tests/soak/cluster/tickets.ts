import type { Credentials } from "../../support/api.ts";
import { type Answer, basic, type World } from "./world.ts";

/** The pause between two tickets of a project, in milliseconds. */
const FILE_EVERY = 10_000;

/** Answers that leave open what happened. */
const UNKNOWN: readonly number[] = [0, 503, 504];

interface Filed {
  readonly slug: string;
  readonly uuid: string;
  readonly title: string;
  /** Who was told that it has the claim. */
  winner: string | null;
}

/** Tickets that agents claim at the same time, over HTTP and MCP, each at another node. */
export class Tickets {
  readonly #world: World;
  readonly #filed: Filed[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Files and claims until the end. */
  async run(): Promise<void> {
    await Promise.all(this.#world.projects.map((slug) => this.#work(slug)));
  }

  /** Reads every ticket, and compares it with what was acknowledged. */
  async check(node: string): Promise<void> {
    const world = this.#world;
    const [reader] = world.members;
    if (reader === undefined) return;
    for (const { slug, uuid, title, winner } of this.#filed) {
      const request = `GET /projects/${slug}/fossil/api/tickets/${uuid}`;
      const { status, text } = await world.send(node, basic(reader), request);
      if (status !== 200) {
        world.fault(`${node}: ${request}: ${status} ${text}`);
        continue;
      }
      const ticket = JSON.parse(text) as { title: string; claim?: { agent_id: string } | null };
      if (ticket.title !== title) world.fault(`${uuid} is "${ticket.title}", not "${title}"`);
      const holder = ticket.claim?.agent_id ?? null;
      if (winner !== null && holder !== winner) {
        world.fault(`${slug} "${title}" was given to ${winner}, and ${holder} has it`);
      }
    }
    await this.#checkTitles(node, reader);
  }

  async #checkTitles(node: string, reader: Credentials): Promise<void> {
    const world = this.#world;
    for (const slug of world.projects) {
      const titles: string[] = [];
      for (let page = 1, pages = 1; page <= pages; page++) {
        const path = `/projects/${slug}/fossil/api/tickets?per_page=100&page=${page}`;
        const { status, text } = await world.send(node, basic(reader), `GET ${path}`);
        if (status !== 200) return world.fault(`${node}: ${path}: ${status} ${text}`);
        const list = JSON.parse(text) as { tickets: { title: string }[]; total_pages: number };
        pages = list.total_pages;
        titles.push(...list.tickets.map(({ title }) => title));
      }
      const twice = titles.filter((title, index) => titles.indexOf(title) !== index);
      if (twice.length > 0) world.fault(`${slug} has twice: ${twice.slice(0, 3).join(", ")}`);
    }
  }

  async #work(slug: string): Promise<void> {
    const world = this.#world;
    await world.pause(world.random.below(FILE_EVERY));
    for (let count = 0; !world.isEnding; count++) {
      const filed = await this.#file(slug, `Ticket ${count} of ${slug}`);
      if (filed !== null) await this.#contest(filed);
      await world.pause(FILE_EVERY / 2 + world.random.below(FILE_EVERY));
    }
  }

  async #file(slug: string, title: string): Promise<Filed | null> {
    const world = this.#world;
    const request = `POST /projects/${slug}/fossil/api/tickets`;
    const who = world.random.pick(world.members);
    const { status, text } = await world.send(world.choose(), basic(who), request, { title });
    if (status !== 201) {
      if (!UNKNOWN.includes(status)) world.fault(`${request}: ${status} ${text}`);
      return null;
    }
    const filed: Filed = { slug, uuid: JSON.parse(text).uuid, title, winner: null };
    this.#filed.push(filed);
    world.count("tickets acknowledged");
    return filed;
  }

  /** Lets all members claim at once, spread over the nodes. */
  async #contest(filed: Filed): Promise<void> {
    const world = this.#world;
    const request = `POST /projects/${filed.slug}/fossil/api/tickets/${filed.uuid}/claim`;
    const nodes = world.random.shuffle([...world.open]);
    const answers = await Promise.all(world.members.map(async (agent, index) => {
      const node = nodes[index % nodes.length] ?? world.choose();
      const answer = index % 3 === 0
        ? await this.#claimByTool(node, agent, filed)
        : await world.send(node, basic(agent), request, {});
      return { agent, answer };
    }));
    const given = answers.filter(({ answer }) => answer.status === 201);
    filed.winner = given[0]?.agent.nick ?? null;
    const told = (one: { agent: Credentials; answer: Pick<Answer, "status"> }) =>
      `${one.agent.nick} ${one.answer.status}`;
    const isOpen = answers.some(({ answer }) => UNKNOWN.includes(answer.status));
    if (given.length > 1 || (given.length === 0 && !isOpen)) {
      world.fault(`"${filed.title}" has ${given.length} winners: ${answers.map(told).join(", ")}`);
    }
    for (const { answer: { status, text } } of answers) {
      if (![201, 409, ...UNKNOWN].includes(status)) world.fault(`${request}: ${status} ${text}`);
    }
    world.count("contests");
    if (given.length === 1) world.count("contests with a winner");
  }

  /** Claims over MCP; the status is that of the API for the same. */
  async #claimByTool(
    node: string,
    agent: Credentials,
    { slug, uuid }: Filed,
  ): Promise<Pick<Answer, "status" | "text">> {
    const world = this.#world;
    const { isError, text } = await world.callTool(node, basic(agent), "claim_ticket", {
      slug,
      uuid,
    });
    if (!isError) return { status: 201, text };
    const isTaken = /already claimed/.test(text);
    if (!isTaken) world.count("claims by tools that failed");
    return { status: isTaken ? 409 : 503, text };
  }
}
