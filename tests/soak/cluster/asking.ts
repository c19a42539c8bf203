import type { Credentials } from "../../support/api.ts";
import { basic, bearer, type World } from "./world.ts";

/** The pause between two questions of an agent, in milliseconds. */
const ASK_EVERY = 4000;

/** How many agents ask. */
const ASKERS = 6;

/** The shortest deadline that the server takes, in seconds. */
const DEADLINE = 10;

/** How long the ends of deadlines and their notices may take after the load, in milliseconds. */
const END_LIMIT = 60_000;

/** A question that was acknowledged. */
interface Asked {
  readonly id: number;
  readonly text: string;
  readonly asker: Credentials;
  /** Whether it ends by itself. */
  readonly hasDeadline: boolean;
  /** The end that was acknowledged, as {@link endOf} tells. */
  end: string | null;
}

interface Shown {
  readonly id: number;
  readonly text: string;
  readonly state: string;
  readonly answer: string | null;
}

interface Notice {
  readonly kind: string;
  readonly question?: number;
}

/** Questions that two people answer at once, at two nodes, or that end by their deadline. */
export class Asking {
  readonly #world: World;
  readonly #asked: Asked[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Asks and answers until the end. */
  async run(): Promise<void> {
    await Promise.all(this.#askers.map((asker) => this.#ask(asker)));
    await this.#settle();
  }

  /** Compares every question, and what its asker was told of it, with what was acknowledged. */
  async check(node: string): Promise<void> {
    const world = this.#world;
    for (const { id, text, asker, end } of this.#asked) {
      const shown = await this.#show(node, asker, id);
      if (shown === null) world.fault(`${node}: question ${id} is lost`);
      else if (shown.text !== text) world.fault(`Question ${id} is "${shown.text}", not "${text}"`);
      else if (end !== null && endOf(shown) !== end) {
        world.fault(`${node}: question ${id} is ${endOf(shown)}, not ${end}`);
      }
    }
    for (const asker of this.#askers) await this.#checkNotices(node, asker);
  }

  /** The numbers of the questions that were acknowledged. */
  get ids(): readonly number[] {
    return this.#asked.map(({ id }) => id);
  }

  get #askers(): readonly Credentials[] {
    return this.#world.onHttp.slice(-ASKERS);
  }

  async #ask(asker: Credentials): Promise<void> {
    const world = this.#world;
    await world.pause(world.random.below(ASK_EVERY));
    for (let count = 0; !world.isEnding; count++) {
      const hasDeadline = world.random.below(3) === 0;
      const text = `${asker.nick} asks ${count}`;
      const asked = await this.#send({ text, asker, hasDeadline });
      if (asked !== null && !hasDeadline) await this.#answer(asked);
      await world.pause(ASK_EVERY / 2 + world.random.below(ASK_EVERY));
    }
  }

  /** Asks until that is acknowledged: to ask again changes nothing. */
  async #send(question: Omit<Asked, "id" | "end">): Promise<Asked | null> {
    const world = this.#world;
    const { text, asker, hasDeadline } = question;
    const body = hasDeadline
      ? { text, deadline: DEADLINE, default: `default of ${text}` }
      : { text };
    while (!world.isEnding) {
      const request = "POST /v1/questions";
      const answer = await world.send(world.choose(), basic(asker), request, body);
      if ([200, 201].includes(answer.status)) {
        const asked: Asked = { ...question, id: JSON.parse(answer.text).id, end: null };
        this.#asked.push(asked);
        world.count("questions acknowledged");
        return asked;
      }
      if (![0, 429, 503, 504].includes(answer.status)) {
        world.fault(`${request}: ${answer.status} ${answer.text}`);
      }
      await world.pause(500);
    }
    return null;
  }

  /** Two people answer at once, each at another node: the first answer counts. */
  async #answer(asked: Asked): Promise<void> {
    const world = this.#world;
    const request = `POST /v1/questions/${asked.id}/answer`;
    const first = world.choose();
    const answers = await Promise.all([first, world.choose(first)].map(async (node, index) => {
      const answer = `answer ${index} to ${asked.text}`;
      const who = bearer(world.token);
      return { answer, outcome: await world.send(node, who, request, { answer }) };
    }));
    const counting = answers.filter(({ outcome: { status } }) => status === 200);
    if (counting.length > 1) world.fault(`Question ${asked.id} has two answers that count`);
    asked.end = counting[0] === undefined ? null : `answered ${counting[0].answer}`;
    for (const { outcome: { status, text } } of answers) {
      if (![200, 409, 0, 503, 504].includes(status)) world.fault(`${request}: ${status} ${text}`);
    }
    if (counting.length === 1) world.count("questions answered");
  }

  /** Waits until every deadline has come, and learns how questions ended. */
  async #settle(): Promise<void> {
    const world = this.#world;
    const start = performance.now();
    for (const asked of this.#asked.filter(({ hasDeadline }) => hasDeadline)) {
      for (;;) {
        const shown = await this.#show(world.choose(), asked.asker, asked.id);
        asked.end = shown === null ? null : endOf(shown);
        if (asked.end !== null) break;
        if (performance.now() - start > END_LIMIT) {
          world.fault(`Question ${asked.id} is open after its deadline`);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      if (asked.end !== `expired default of ${asked.text}`) {
        world.fault(`Question ${asked.id} is ${asked.end} after its deadline`);
      }
      world.count("questions ended by their deadline");
    }
  }

  async #show(node: string, { nick, passphrase }: Credentials, id: number): Promise<Shown | null> {
    const request = `GET /v1/questions/${id}`;
    const { status, text } = await this.#world.send(node, basic({ nick, passphrase }), request);
    return status === 200 ? JSON.parse(text) : null;
  }

  /** The asker's inbox tells of each end once. */
  async #checkNotices(node: string, asker: Credentials): Promise<void> {
    const world = this.#world;
    const ended = this.#asked.filter((one) => one.asker.nick === asker.nick && one.end !== null);
    const start = performance.now();
    for (;;) {
      const request = `GET /v1/agents/${asker.nick}/messages`;
      const { status, text } = await world.send(node, basic(asker), request);
      if (status !== 200) return world.fault(`${node}: ${request}: ${status} ${text}`);
      const told = (JSON.parse(text) as Notice[])
        .flatMap(({ kind, question }) => kind === "question" ? [question] : []);
      const twice = told.filter((id, index) => told.indexOf(id) !== index);
      if (twice.length > 0) {
        return world.fault(`${asker.nick} is told twice of ${twice.join(", ")}`);
      }
      const missing = ended.filter(({ id }) => !told.includes(id));
      if (missing.length === 0) return;
      if (performance.now() - start > END_LIMIT) {
        const ids = missing.map(({ id }) => id).join(", ");
        return world.fault(`${asker.nick} was not told of the ends of ${ids}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** How a question ended, and with which answer; null while it is open. */
function endOf({ state, answer }: Shown): string | null {
  return state === "open" ? null : `${state} ${answer}`;
}
