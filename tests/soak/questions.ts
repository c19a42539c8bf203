import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";
import { Random } from "../services/engines/fossil/support/random.ts";
import { Client } from "./client.ts";
import { expect, nameOf } from "./project.ts";
import { type SeenEvent, sooner } from "./team/sight.ts";

const AGENTS = 4;

/** Open questions of one agent: fewer than the server's limit, which counts unanswered ones too. */
const MAX_OPEN = 15;

/** The shortest deadline that the server takes, in seconds. */
const DEADLINE = 10;

/** Most answers before a kill, and how long a start may take, in milliseconds. */
const MAX_ANSWERS = 150;
const START_LIMIT_MS = 120_000;

/** What a run did. */
export interface Decisions {
  readonly kills: number;
  readonly asked: number;
  /** Questions that were answered or withdrawn. */
  readonly ended: number;
  /** Questions whose deadline passed. */
  readonly expired: number;
}

interface Shown {
  readonly id: number;
  readonly text: string;
  readonly deadline: string | null;
  readonly state: string;
  readonly answer: string | null;
  readonly via: string | null;
}

interface Notice {
  readonly id: string;
  readonly kind: string;
  readonly question?: number;
}

/** A question that the server acknowledged. */
interface Asked {
  readonly id: number;
  readonly text: string;
  /** Unix milliseconds; null without a deadline. */
  readonly deadline: number | null;
  /** How it ended, as {@link endOf} tells; null while it is open. */
  end: string | null;
  /** An end that was asked for and not acknowledged. */
  unsure: string | null;
}

/** What the server promised about one agent's questions. */
class Desk {
  readonly nick: string;
  readonly token: string;
  readonly asked = new Map<number, Asked>();
  /** The questions of whose end its inbox told. */
  readonly told = new Set<number>();
  /** A question that was not acknowledged, to be asked again. */
  #unanswered: { readonly text: string; readonly more: object } | null = null;
  #number = 0;

  constructor(nick: string, token: string) {
    this.nick = nick;
    this.token = token;
  }

  /** Asks, and withdraws at times, until the server ends. */
  async ask(client: Client, random: Random, isDown: () => boolean): Promise<void> {
    while (!isDown()) {
      const open = this.#open();
      if (open.length >= MAX_OPEN) {
        if (!await this.#withdraw(client, random.pick(open))) return;
        continue;
      }
      const text = `${this.nick} asks ${this.#number}`;
      const more = random.below(3) > 0 ? {} : { deadline: DEADLINE, default: `default of ${text}` };
      if (this.#unanswered === null) this.#number++;
      this.#unanswered ??= { text, more };
      const body = { text: this.#unanswered.text, ...this.#unanswered.more };
      if (!await this.#send(client, body)) return;
      this.#unanswered = null;
    }
  }

  /** Asks what nobody answers, so that its default counts at the deadline. */
  async askInVain(client: Client): Promise<void> {
    const text = `${this.nick} asks in vain`;
    const body = { text, deadline: DEADLINE, default: `default of ${text}` };
    assert.ok(await this.#send(client, body), "The server has ended");
  }

  /** Sends a question until it is taken; false if the server has ended. */
  async #send(client: Client, body: { readonly text: string }): Promise<boolean> {
    for (;;) {
      const answer = await client.send<Shown>("POST /v1/questions", body);
      if (answer === null) return false;
      // An agent may not ask more than it may say.
      if (answer.status === 429) continue;
      assert.ok([200, 201].includes(answer.status), JSON.stringify(answer.body));
      const { id, deadline } = answer.body;
      const due = deadline === null ? null : Date.parse(deadline);
      this.asked.set(id, { id, text: body.text, deadline: due, end: null, unsure: null });
      return true;
    }
  }

  /** Answers as the operator, until the server ends. */
  async answer(operator: Client, random: Random, isDown: () => boolean): Promise<void> {
    while (!isDown()) {
      const open = this.#open();
      if (open.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      const question = random.pick(open);
      const answer = `answer to ${question.text}`;
      const request = `POST /v1/questions/${question.id}/answer`;
      if (!await this.#end(question, `answered ${answer}`, operator, request, { answer })) return;
    }
  }

  /**
   * Compares questions with what was promised, and learns what became of unanswered requests.
   *
   * @throws AssertionError if a question or its end is lost, changed, or told of twice
   */
  async check(client: Client): Promise<void> {
    for (const question of this.asked.values()) {
      const shown = await client.get<Shown>(`/v1/questions/${question.id}`);
      assert.equal(shown.text, question.text);
      const end = endOf(shown);
      if (question.end !== null) assert.equal(end, question.end, `question ${question.id}`);
      else if (end !== null && end !== question.unsure) {
        assert.equal(end, `expired default of ${question.text}`, `question ${question.id}`);
        assert.ok(question.deadline !== null && question.deadline <= Date.now(), "It ended early");
      }
      question.end = end;
      question.unsure = null;
    }
    await sooner(`the ends of the questions of ${this.nick} in its inbox`, async () => {
      await this.#hear(client);
      return this.ended.every(({ id }) => this.told.has(id)) ? this.told : null;
    });
    for (const id of this.told) {
      assert.notEqual(endOf(await client.get<Shown>(`/v1/questions/${id}`)), null, `${id} is open`);
    }
  }

  /** The questions that have ended. */
  get ended(): readonly Asked[] {
    return [...this.asked.values()].filter(({ end }) => end !== null);
  }

  #open(): readonly Asked[] {
    return [...this.asked.values()].filter(({ end, unsure }) => end === null && unsure === null);
  }

  async #withdraw(client: Client, question: Asked): Promise<boolean> {
    return await this.#end(
      question,
      "withdrawn null",
      client,
      `DELETE /v1/questions/${question.id}`,
    );
  }

  /** Ends a question, unless it has ended already; false if the server has ended. */
  async #end(
    question: Asked,
    end: string,
    client: Client,
    request: string,
    body?: unknown,
  ): Promise<boolean> {
    question.unsure = end;
    const answer = await client.send<Shown>(request, body);
    if (answer === null) return false;
    question.unsure = null;
    if (answer.status === 409) {
      const shown = await client.send<Shown>(`GET /v1/questions/${question.id}`);
      if (shown === null) return false;
      assert.notEqual(endOf(shown.body), null, "An open question refuses an answer");
      question.end ??= endOf(shown.body);
    } else {
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.equal(endOf(answer.body), end);
      question.end = end;
    }
    return true;
  }

  /** Reads its inbox, which tells of each end once, and acknowledges. */
  async #hear(client: Client): Promise<void> {
    const path = `/v1/agents/${this.nick}/messages`;
    const entries = await client.get<readonly Notice[]>(path);
    for (const { kind, question } of entries) {
      if (kind !== "question" || question === undefined) continue;
      assert.ok(!this.told.has(question), `${this.nick} hears twice of question ${question}`);
      this.told.add(question);
    }
    if (entries.length === 0) return;
    const ids = entries.map(({ id }) => id);
    const done = await client.send(`POST ${path}/acknowledge`, { ids });
    assert.equal(done?.status, 200);
  }
}

/** How a question ended, and with which answer; null while it is open. */
function endOf({ state, answer }: Shown): string | null {
  return state === "open" ? null : `${state} ${answer}`;
}

/**
 * Agents ask questions that are answered, withdrawn, or left to their deadline, while the real
 * program is killed (SIGKILL) at random moments. What was acknowledged stays: questions, answers,
 * and ends, of which the asker's inbox tells once. At a deadline, the default counts once.
 *
 * @param onKill called after each restart
 * @throws AssertionError that says what is lost, changed, or there twice
 */
export async function decide(
  kills: number,
  seed: number,
  onKill: (decisions: Decisions) => void = () => {},
): Promise<Decisions> {
  const random = new Random(seed);
  let decisions: Decisions = { kills: 0, asked: 0, ended: 0, expired: 0 };
  await withFolder(async (folder) => {
    const start = { folder, startLimit: START_LIMIT_MS };
    let program = await startProgram(start);
    try {
      const desks = await prepareDesks(program);
      const checkAll = async (kill: number) => {
        for (const desk of desks) await desk.check(new Client(program.api, desk.token));
        decisions = count(desks, kill);
      };
      for (let kill = 1; kill <= kills; kill++) {
        await disturb(program, desks, random);
        program = await startProgram(start);
        await checkAll(kill);
        onKill(decisions);
      }
      const { api } = program;
      await Promise.all(desks.map((desk) => desk.askInVain(new Client(api, desk.token))));
      await passDeadlines(program, desks);
      await sooner("the ends of all deadlines", async () => {
        await checkAll(kills);
        const left = desks.flatMap(({ asked }) => [...asked.values()])
          .filter(({ deadline, end }) => deadline !== null && end === null);
        return left.length === 0 ? desks : null;
      });
      await auditEnds(program, desks);
      assert.equal(await program.stop(), 0);
    } finally {
      await program.stop("SIGKILL");
    }
  });
  return decisions;
}

/** Waits until the last deadline has passed. To check all questions meanwhile would keep a core busy. */
async function passDeadlines(program: Program, desks: readonly Desk[]): Promise<void> {
  const last = desks.flatMap(({ asked }) => [...asked.values()])
    .reduce((one, other) => (other.deadline ?? 0) > (one.deadline ?? 0) ? other : one);
  const operator = new Client(program.api, program.token);
  await asked(
    () => operator.get<Shown>(`/v1/questions/${last.id}`),
    (shown) => endOf(shown) !== null,
  );
}

function count(desks: readonly Desk[], kills: number): Decisions {
  const ends = desks.flatMap(({ ended }) => ended.map(({ end }) => end ?? ""));
  const expired = ends.filter((end) => end.startsWith("expired ")).length;
  const asked = desks.reduce((sum, desk) => sum + desk.asked.size, 0);
  return { kills, asked, ended: ends.length - expired, expired };
}

/** The event log tells of the beginning and of the end of each question once. */
async function auditEnds(program: Program, desks: readonly Desk[]): Promise<void> {
  const times = new Map<string, number>();
  const types = ["asked", "answered", "expired", "withdrawn"].map((one) => `question.${one}`);
  for (let after = 0;;) {
    const path = `/v1/events?types=${types.join()}&after=${after}&limit=1000`;
    const { events } = await expect<{ events: readonly SeenEvent[] }>(call(program, "GET", path));
    const last = events.at(-1);
    if (last === undefined) break;
    after = last.seq;
    for (const { type, data } of events) {
      const key = `${type === "question.asked" ? "asked" : "ended"} ${data["question"]}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    }
  }
  for (const { id, end } of desks.flatMap(({ asked }) => [...asked.values()])) {
    assert.equal(times.get(`asked ${id}`), 1, `question ${id} was asked`);
    assert.equal(times.get(`ended ${id}`) ?? 0, end === null ? 0 : 1, `question ${id} ended`);
  }
}

async function prepareDesks(program: Program): Promise<Desk[]> {
  const desks: Desk[] = [];
  for (let index = 0; index < AGENTS; index++) {
    const nick = nameOf(index);
    await registerAgent(program, nick);
    const body = { owner: nick, name: "soak", scopes: ["read", "write"] };
    const made = await expect<{ token: string }>(call(program, "POST", "/v1/tokens", body));
    desks.push(new Desk(nick, made.token));
  }
  return desks;
}

/** Lets all ask and answer, and kills the program in the middle. */
async function disturb(program: Program, desks: readonly Desk[], random: Random): Promise<void> {
  let left = 1 + random.below(MAX_ANSWERS);
  let killed: Promise<number> | null = null;
  const isDown = () => killed !== null;
  const answered = () => {
    if (--left <= 0) killed ??= program.stop("SIGKILL");
  };
  const operator = new Client(program.api, program.token, answered);
  await Promise.all(desks.flatMap((desk) => [
    desk.ask(new Client(program.api, desk.token, answered), random, isDown),
    desk.answer(operator, random, isDown),
  ]));
  await killed;
}
