/**
 * One caller sends long runs of one character in each parameter, field, argument, line and card that
 * the real program takes, while others post to a quiet channel and read quiet projects. Nobody may wait.
 */
import assert from "node:assert/strict";
import { call, order, registerAgent, type Server } from "../../support/api.ts";
import { ProcessorTime } from "../../support/cpu_time.ts";
import { addAdmin, type FilledServer, fillServer } from "../../support/filled_server.ts";
import type { Program } from "../../support/program.ts";
import { pushedCards } from "./cards.ts";
import { calls, lines, pages, requests } from "./doors.ts";

/** Characters that patterns and parsers treat in a special way. */
export const DANGEROUS = "/.[(<* \t\n\"'`#@)]>{}|\\_-~=:;,!?%&$^+0aé";

/** How long the main thread may compute while a post to a quiet channel waits, in milliseconds. */
const POST_LIMIT = 100;

/** How long the program may compute while a read of another project waits, in milliseconds. */
const READ_LIMIT = 500;

/** The time between two posts, in milliseconds: shorter than what is looked for. */
const PAUSE = 20;

/** Longest run that is sent, in characters: a body holds one of these. */
export const LONGEST = 900_000;

/** Attempts with an input that kept others waiting: it may have met other work of the program. */
const ATTEMPTS = 5;

/** Inputs that are sent before the waits of others are looked at. */
const TOGETHER = 10;

/** Of so many inputs, a sample has one. */
const SAMPLED = 4;

/** Projects of which each lane of the workers has some. */
const QUIET_PROJECTS = ["quiet-1", "quiet-2", "quiet-3", "quiet-4"];

/** Each agent who posts to the quiet channel; they take turns, each in its own rate. */
const QUIET_AGENTS = ["quiet-a", "quiet-b", "quiet-c", "quiet-d"];

/** An input, and how to send it. */
export interface Input {
  readonly name: string;
  send(): Promise<void>;
}

/** The next character of a run. */
export type Next = () => string;

/** The program, with everything that an input can name. */
export interface Place {
  readonly program: Program;
  readonly filled: FilledServer;
}

/** What {@link walk} found. */
export interface Walked {
  readonly inputs: number;
  /** Inputs that kept others waiting each time, with the shortest times in milliseconds. */
  readonly slow: readonly string[];
}

/** A run of a character with one before and after. */
export function run(character: string, length: number): string {
  return `a${character.repeat(Math.max(0, Math.min(length, LONGEST) - 2))}x`;
}

/**
 * Sends every input with every character.
 *
 * @param say told of each character that is done, and of each input that kept others waiting
 */
export async function walk(
  program: Program,
  characters = DANGEROUS,
  say: (line: string) => void = () => {},
): Promise<Walked> {
  await using walker = await Walker.start(program, say);
  for (const character of characters) {
    await walker.send(() => character);
    say(`${JSON.stringify(character)}: ${walker.inputs} inputs so far`);
  }
  return walker;
}

/** Sends one of {@link SAMPLED} inputs, others in each run, and each with the next character. */
export async function walkSample(program: Program): Promise<Walked> {
  let index = Math.floor(Math.random() * DANGEROUS.length);
  await using walker = await Walker.start(program, () => {});
  await walker.send(() => DANGEROUS.charAt(index++ % DANGEROUS.length), SAMPLED);
  return walker;
}

class Walker implements Walked, AsyncDisposable {
  readonly slow: string[] = [];
  inputs = 0;
  readonly #place: Place;
  readonly #processorTime: ProcessorTime;
  readonly #posts: Meanwhile;
  readonly #reads: Meanwhile;
  readonly #say: (line: string) => void;

  private constructor(place: Place, say: (line: string) => void) {
    const { program } = place;
    this.#place = place;
    this.#say = say;
    this.#processorTime = new ProcessorTime(program.pid);
    this.#posts = new Meanwhile((turn) => {
      const nick = QUIET_AGENTS[turn % QUIET_AGENTS.length];
      return call(program, "POST", "/v1/channels/quiet/messages", { nick, text: "tick" });
    }, async () => (await this.#processorTime.read()).main);
    this.#reads = new Meanwhile((turn) => {
      const slug = QUIET_PROJECTS[turn % QUIET_PROJECTS.length];
      return call(program, "GET", `/projects/${slug}/fossil/api/timeline`);
    }, async () => (await this.#processorTime.read()).all);
  }

  static async start(program: Program, say: (line: string) => void): Promise<Walker> {
    const filled = await fillServer(program, await addAdmin(program, "root"));
    for (const nick of QUIET_AGENTS) await registerAgent(program, nick, { channels: ["quiet"] });
    for (const slug of QUIET_PROJECTS) await order(program, "POST /v1/projects", { slug });
    return new Walker({ program, filled }, say);
  }

  /** @param part sends one of so many inputs, beginning anywhere */
  async send(next: Next, part = 1): Promise<void> {
    const place = this.#place;
    let index = Math.floor(Math.random() * part);
    for (const door of [requests, pages, calls, lines, pushedCards]) {
      let together: Input[] = [];
      for await (const input of door(place, next)) {
        if (index++ % part !== 0) continue;
        together.push(input);
        if (together.length < TOGETHER) continue;
        await this.#tryAll(together);
        together = [];
      }
      await this.#tryAll(together);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#posts.end(), this.#reads.end()]);
    await this.#processorTime[Symbol.asyncDispose]();
  }

  /** Sends inputs one after the other; if others waited, looks for the one that is to blame. */
  async #tryAll(inputs: readonly Input[]): Promise<void> {
    this.inputs += inputs.length;
    const { isSlow } = await this.#watch(async () => {
      for (const { send } of inputs) await send();
    });
    if (!isSlow) return;
    for (const input of inputs) await this.#try(input);
  }

  async #try({ name, send }: Input): Promise<void> {
    let [post, read] = [Infinity, Infinity];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const waits = await this.#watch(send);
      if (!waits.isSlow) return;
      [post, read] = [Math.min(post, waits.post), Math.min(read, waits.read)];
    }
    const line = `${name}: a post was kept ${Math.round(post)} ms, a read ${Math.round(read)} ms`;
    this.slow.push(line);
    this.#say(line);
  }

  /** Sends something, and tells how long it kept others waiting. */
  async #watch(send: () => Promise<void>) {
    const since = performance.now();
    await send();
    const post = await this.#posts.longestSince(since);
    const read = await this.#reads.longestSince(since);
    return { post, read, isSlow: post > POST_LIMIT || read > READ_LIMIT };
  }
}

/** Does something again and again, and remembers how long the program computed for others meanwhile. */
class Meanwhile {
  readonly #done: { readonly to: number; readonly kept: number }[] = [];
  readonly #running: Promise<void>;
  #since: number | null = null;
  #hasEnded = false;

  /** @param computed how long those have computed who can keep it waiting, in milliseconds */
  constructor(act: (turn: number) => Promise<Response>, computed: () => Promise<number>) {
    this.#running = this.#run(act, computed);
  }

  /** The longest that one of those that were under way since then was kept, in milliseconds. */
  async longestSince(since: number): Promise<number> {
    const under = this.#since;
    // The one that waits at the moment counts too, to its end.
    while (under !== null && this.#since === under) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const during = this.#done.filter(({ to }) => to >= since);
    this.#done.splice(0, this.#done.length - during.length);
    return during.reduce((most, { kept }) => Math.max(most, kept), 0);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#running;
  }

  async #run(
    act: (turn: number) => Promise<Response>,
    computed: () => Promise<number>,
  ): Promise<void> {
    for (let turn = 0; !this.#hasEnded; turn++) {
      const before = await computed();
      const from = this.#since = performance.now();
      const answer = await act(turn);
      const text = await answer.text();
      assert.ok(answer.ok, `${answer.status} ${text}`);
      const to = performance.now();
      // A busy machine makes it wait for longer than the program computes.
      this.#done.push({ to, kept: Math.min(to - from, await computed() - before) });
      this.#since = null;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

/** @throws AssertionError if an input kept others waiting */
export function assertQuick({ inputs, slow }: Walked): void {
  assert.ok(inputs > 500, `${inputs} inputs`);
  assert.deepEqual(slow, []);
}

/** Asks the program, and reads the answer to its end. */
export async function ask(
  { api, token }: Server,
  path: string,
  init: RequestInit = {},
): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(api + path, { redirect: "manual", headers, ...init });
  await answer.arrayBuffer();
}
