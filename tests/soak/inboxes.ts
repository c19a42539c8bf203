import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { Random } from "../services/engines/fossil/support/random.ts";
import { Client } from "./client.ts";
import { expect, nameOf } from "./project.ts";

const AGENTS = 6;

/** Most entries of an inbox that wait for an acknowledgement. */
const MAX_OPEN = 100;

/** Most answers before a kill, and how long a start may take, in milliseconds. */
const MAX_ANSWERS = 400;
const START_LIMIT_MS = 120_000;

/** What a run did. */
export interface Deliveries {
  readonly kills: number;
  readonly sent: number;
  readonly acknowledged: number;
}

interface Entry {
  readonly id: string;
  readonly text: string;
}

/** What the server promised about one agent's inbox. Entries are known by their texts. */
class Mailbox {
  readonly nick: string;
  readonly token: string;
  /** Sends that were answered, and are not acknowledged. */
  readonly open = new Set<string>();
  /** Acknowledgements that were asked for and not answered. */
  readonly unsure = new Set<string>();
  readonly acknowledged = new Set<string>();
  /** Entries that were read, of which neither the send nor the acknowledgement was answered. */
  readonly unpromised = new Set<string>();
  /** A send that was not answered, to be repeated. */
  unanswered: string | null = null;
  sent = 0;

  constructor(nick: string, token: string) {
    this.nick = nick;
    this.token = token;
  }

  /** Sends until the server ends; each message has the same id in each attempt. */
  async fill(client: Client, isDown: () => boolean): Promise<void> {
    while (!isDown()) {
      if (this.open.size + this.unsure.size >= MAX_OPEN) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      const text = this.unanswered ?? `${this.nick} ${this.sent++}`;
      this.unanswered = text;
      const body = { text, client_id: text };
      const answer = await client.send(`POST /v1/agents/${this.nick}/messages`, body);
      if (answer === null) return;
      assert.equal(answer.status, 204, `${text}: ${JSON.stringify(answer.body)}`);
      // Its reader may be faster than the answer.
      const isTaken = [this.unsure, this.acknowledged, this.unpromised].some((set) =>
        set.has(text)
      );
      if (!isTaken) this.open.add(text);
      this.unanswered = null;
    }
  }

  /** Reads and acknowledges until the server ends. */
  async empty(client: Client, random: Random): Promise<void> {
    for (;;) {
      const entries = await this.read(client);
      if (entries === null) return;
      const done = entries.filter(() => random.below(3) > 0);
      if (done.length === 0) continue;
      // By ids or, for the first ones, up to one of them.
      const byIds = random.below(2) === 0;
      const meant = byIds ? done : entries.slice(0, 1 + random.below(entries.length));
      const body = byIds ? { ids: meant.map(({ id }) => id) } : { up_to: meant.at(-1)?.id };
      for (const { text } of meant) {
        this.open.delete(text);
        this.unsure.add(text);
      }
      const answer = await client.send(`POST /v1/agents/${this.nick}/messages/acknowledge`, body);
      if (answer === null) return;
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      for (const { text } of meant) {
        this.unsure.delete(text);
        this.acknowledged.add(text);
      }
    }
  }

  /**
   * Reads the inbox, and compares it with what was promised.
   *
   * @returns null if the server ended
   * @throws AssertionError if an entry is lost, twice there, or back
   */
  async read(client: Client): Promise<readonly Entry[] | null> {
    const promised = [...this.open];
    const path = `/v1/agents/${this.nick}/messages`;
    const answer = await client.send<readonly Entry[]>(`GET ${path}`);
    if (answer === null) return null;
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const texts = new Set(answer.body.map(({ text }) => text));
    assert.equal(texts.size, answer.body.length, `${this.nick} has an entry twice`);
    for (const text of promised) assert.ok(texts.has(text), `"${text}" is lost`);
    for (const text of texts) assert.ok(!this.acknowledged.has(text), `"${text}" is back`);
    return answer.body;
  }

  /** Finds out which unanswered acknowledgements took effect. */
  async settle(client: Client): Promise<void> {
    const entries = await this.read(client);
    assert.ok(entries !== null, "The server ended without a kill");
    const left = new Set(entries.map(({ text }) => text));
    for (const text of this.unsure) {
      if (left.has(text)) this.open.add(text);
      else if (text === this.unanswered) this.unpromised.add(text);
      else this.acknowledged.add(text);
    }
    this.unsure.clear();
  }
}

/**
 * Sends messages to agents that read and acknowledge them, and kills the real program (SIGKILL) at
 * random moments. Each entry that was sent must be in every read until it is acknowledged, and in
 * none after that.
 *
 * @param onKill called after each restart
 * @throws AssertionError that says what is lost, twice there, or back
 */
export async function deliver(
  kills: number,
  seed: number,
  onKill: (deliveries: Deliveries) => void = () => {},
): Promise<Deliveries> {
  const random = new Random(seed);
  let deliveries: Deliveries = { kills: 0, sent: 0, acknowledged: 0 };
  await withFolder(async (folder) => {
    const start = { folder, startLimit: START_LIMIT_MS };
    let program = await startProgram(start);
    try {
      const mailboxes = await prepareMailboxes(program);
      for (let kill = 1; kill <= kills; kill++) {
        await disturb(program, mailboxes, random);
        program = await startProgram(start);
        for (const mailbox of mailboxes) {
          await mailbox.settle(new Client(program.api, mailbox.token));
        }
        deliveries = {
          kills: kill,
          sent: mailboxes.reduce((sum, { sent }) => sum + sent, 0),
          acknowledged: mailboxes.reduce((sum, box) => sum + box.acknowledged.size, 0),
        };
        onKill(deliveries);
      }
      assert.equal(await program.stop(), 0);
    } finally {
      await program.stop("SIGKILL");
    }
  });
  return deliveries;
}

async function prepareMailboxes(program: Program): Promise<Mailbox[]> {
  const mailboxes: Mailbox[] = [];
  for (let index = 0; index < AGENTS; index++) {
    const nick = nameOf(index);
    await registerAgent(program, nick);
    const body = { owner: nick, name: "soak", scopes: ["read", "write"] };
    const made = await expect<{ token: string }>(call(program, "POST", "/v1/tokens", body));
    mailboxes.push(new Mailbox(nick, made.token));
  }
  return mailboxes;
}

/** Lets all send and read, and kills the program in the middle. */
async function disturb(
  program: Program,
  mailboxes: readonly Mailbox[],
  random: Random,
): Promise<void> {
  let left = 1 + random.below(MAX_ANSWERS);
  let killed: Promise<number> | null = null;
  const answered = () => {
    if (--left <= 0) killed ??= program.stop("SIGKILL");
  };
  const operator = new Client(program.api, program.token, answered);
  await Promise.all(mailboxes.flatMap((mailbox) => [
    mailbox.fill(operator, () => killed !== null),
    mailbox.empty(new Client(program.api, mailbox.token, answered), random),
  ]));
  await killed;
}
