import { inBackground } from "../../kernel/sweep.ts";
import type { Database, Statement } from "../../engines/database/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { newEvent, type Origin } from "../../engines/events/mod.ts";
import { GUEST } from "../../people/identity/mod.ts";
import { BoundedQueue } from "../../kernel/bounded_queue.ts";
import type { Gateway } from "../../models/llm/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { BotContext, BotDefinition, BotInstance, BotName, BotSource, Speaker } from "./bot.ts";
import { BotState } from "./bot_state.ts";
import { type CommandPlace, Commands } from "./commands.ts";
import { askModel } from "./model_calls.ts";
import { type BotVoice, type BotVoices, Speech } from "./voices.ts";

/** The pause before the first restart, and the longest one, in milliseconds. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 300_000;

/** After so long without a failure, in milliseconds, the next pause is the first again. */
const HEALTHY_MS = 600_000;

/** How fast a bot speaks by default. */
const PACE = { perSecond: 5, burst: 20 };

/** The answer to a command before the bot runs. */
const STARTING = "I am starting. Try again soon.";

/** The surroundings that all bots share. */
export interface BotSurroundings {
  readonly database: Database;
  readonly voices: BotVoices;
  readonly gateway: Pick<Gateway, "complete">;
  /** The channels of the bridge, sorted. */
  readonly channels: () => readonly string[];
  /** Has the bridge enter a channel. */
  readonly enter: (channel: string) => Promise<void>;
  readonly isIn: (nick: string, channel: string) => boolean;
  /** Whether a nick is that of a bot of muster, or of the bridge. */
  readonly isBot: (nick: string) => boolean;
  readonly mayRead: (speaker: Speaker, channel: string) => boolean;
  readonly speakerOf: (nick: string, account: string | null) => Speaker;
  /** Statements without which nothing of a bot's state is written. */
  readonly guard: () => readonly Statement[];
  readonly scheduler: Scheduler;
  readonly log: Log;
}

interface BotRunnerOptions extends BotSurroundings {
  readonly source: BotSource;
  /** The present settings, validated. */
  readonly settings: () => unknown;
}

/** What a bot is doing: `failed` means that it waits to be started again. */
export type BotCondition = "stopped" | "starting" | "running" | "failed";

/**
 * Runs one bot: starts it, passes it what happens in order, executes its commands, and starts it
 * again with growing pauses when it throws. Nothing that a bot does reaches the caller.
 */
export class BotRunner {
  readonly #options: BotRunnerOptions;
  readonly #queue: InputQueue;
  readonly #speech: Speech;
  readonly #state: BotState;
  readonly #timers = new Set<() => void>();
  /** Null until it is first enabled. */
  #bot: BotDefinition | null = null;
  #commands: Commands | null = null;
  #voice: BotVoice | null = null;
  #instance: BotInstance | null = null;
  #condition: BotCondition = "stopped";
  #calls = new AbortController();
  #failures = 0;
  #failedAt = 0;
  #cancelRestart: () => void = () => {};
  /** Resolves when the last start is over: it may take longer than the run that it was for. */
  #begun: Promise<void> = Promise.resolve();
  /** Resolves when the last run that failed has ended. */
  #ended: Promise<void> = Promise.resolve();
  /** Resolves when the events so far are logged. */
  #recorded: Promise<void> = Promise.resolve();
  /** The present run; tasks of an earlier one are ignored. */
  #run = 0;

  constructor(options: BotRunnerOptions) {
    const { source, scheduler } = options;
    this.#options = options;
    this.#state = new BotState({ ...options, bot: source.name });
    this.#queue = new InputQueue((error) => this.#fail(error), (count) => this.#lost(count));
    this.#speech = new Speech({
      voice: () => this.#voice,
      pace: () => this.#bot?.pace?.(options.settings()) ?? PACE,
      scheduler,
      onDropped: (count) => this.#record("bot.lines_dropped", { bot: source.name, count }),
    });
  }

  get name(): BotName {
    return this.#options.source.name;
  }

  get condition(): BotCondition {
    return this.#condition;
  }

  /** Starts it, unless it runs. */
  start(): void {
    if (this.#condition !== "stopped") return;
    this.#record("bot.started", { bot: this.name });
    this.#begun = inBackground(this.#options.log, "start a bot", () => this.#begin());
  }

  /** Stops it, and leaves IRC. Resolves when the bot has ended. */
  async stop(reason: string): Promise<void> {
    if (this.#condition === "stopped") return;
    this.#cancelRestart();
    this.#failures = 0;
    this.#condition = "stopped";
    await this.#end();
    this.#speech.close();
    this.#voice?.close(reason);
    this.#voice = null;
    await Promise.all([this.#begun, this.#ended]);
    this.#record("bot.stopped", { bot: this.name });
    await this.#recorded;
  }

  /** Passes something to the bot, after everything earlier. */
  pass(input: (bot: BotInstance) => void | Promise<void> | undefined): void {
    const instance = this.#instance;
    if (instance !== null) this.#queue.add(() => input(instance));
  }

  /** Executes a command that addresses the bot. */
  command(text: string, place: CommandPlace): void {
    if (this.#condition === "stopped") return;
    const answer = (lines: readonly string[], isPrivate: boolean) => {
      const { channel, speaker } = place;
      if (channel === null || isPrivate) this.#speech.tell(speaker.nick, lines);
      else this.#speech.say(channel, lines, false);
    };
    const commands = this.#commands;
    if (commands === null) return answer([STARTING], false);
    const command = commands.find(text, place, answer);
    if (command === null) return;
    if (this.#instance === null) return answer([STARTING], false);
    this.pass((instance) => commands.run(command, instance, answer));
  }

  /** Enters or leaves a channel with the bridge. */
  follow(channel: string, isThere: boolean): void {
    if (isThere) this.#voice?.enter(channel);
    else this.#voice?.leave(channel);
  }

  /** Resolves when everything so far is handled; for tests. */
  async idle(): Promise<void> {
    await this.#queue.idle();
    await this.#recorded;
  }

  async #begin(): Promise<void> {
    const { source, voices, channels, log } = this.#options;
    this.#condition = "starting";
    const run = ++this.#run;
    this.#calls = new AbortController();
    try {
      const bot = this.#bot ??= await source.load();
      if (run !== this.#run) return;
      this.#commands ??= new Commands(bot, this.#options);
      this.#voice ??= voices.open(bot.name, bot.purpose);
      for (const channel of channels()) this.#voice.enter(channel);
      const instance = await bot.start(this.#context(bot, run));
      if (run !== this.#run) return void await instance.stop?.();
      this.#instance = instance;
      this.#condition = "running";
      log.debug("A bot runs", { bot: bot.name });
    } catch (error) {
      if (run === this.#run) this.#fail(error);
    }
  }

  /** Ends the present run. */
  async #end(): Promise<void> {
    this.#run++;
    const instance = this.#instance;
    this.#instance = null;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#calls.abort();
    await this.#queue.close();
    try {
      await instance?.stop?.();
    } catch (error) {
      this.#options.log.warn("A bot failed while it stopped", { bot: this.name, error });
    }
  }

  /** Stops a bot that threw, and starts it again after a pause. */
  #fail(error: unknown): void {
    if (this.#condition === "stopped" || this.#condition === "failed") return;
    const { scheduler, log } = this.#options;
    const now = scheduler.now();
    if (now - this.#failedAt > HEALTHY_MS) this.#failures = 0;
    this.#failedAt = now;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures++, LONGEST_PAUSE_MS);
    this.#condition = "failed";
    log.error("A bot failed and is started again", { bot: this.name, pause, error });
    this.#record("bot.failed", {
      bot: this.name,
      error: error instanceof Error ? error.name : typeof error,
      restart_seconds: pause / 1000,
    });
    this.#ended = this.#end();
    this.#cancelRestart = scheduler.after(pause, () => {
      this.#begun = inBackground(log, "start a bot again", async () => {
        await this.#ended;
        if (this.#condition === "failed") await this.#begin();
      });
    });
  }

  #context(bot: BotDefinition, run: number): BotContext<BotName> {
    const options = this.#options;
    const { channels, enter, mayRead, isIn, isBot, speakerOf, voices, scheduler, log } = options;
    const isPresent = () => run === this.#run;
    return {
      name: bot.name,
      // The frame gives each bot the settings of its own name.
      settings: () => options.settings() as never,
      channels,
      enter: async (channel) => {
        await enter(channel);
        if (isPresent()) this.#voice?.enter(channel);
      },
      say: (channel, lines, { mentions = false } = {}) => {
        if (isPresent()) this.#speech.say(channel, linesOf(lines), mentions);
      },
      deliver: async (channel, lines) => {
        if (!isPresent()) throw new Unavailable("The bot has stopped");
        await this.#speech.deliver(channel, linesOf(lines));
      },
      tell: (nick, lines) => {
        if (isPresent()) this.#speech.tell(nick, linesOf(lines));
      },
      kick: (channel, nick, reason) =>
        this.#voice?.kick(channel, nick, reason) ?? (this.#voice === null ? "it is away" : null),
      changeModes: (channel, changes) =>
        this.#voice?.changeModes(channel, changes) ?? Promise.resolve("it is away"),
      record: (type, data, speaker) => this.#record(type, data, speaker),
      state: this.#state,
      now: () => scheduler.now(),
      after: (milliseconds, task) => isPresent() ? this.#after(milliseconds, task) : () => {},
      mayRead,
      isChannelOperator: (nick, channel) => voices.isChannelOperator(nick, channel),
      isIn,
      isBot,
      speakerOf,
      originOf: (speaker) => originOf(bot.name, speaker),
      ask: (question) => askModel(options.gateway, question, this.#caller(), this.#calls.signal),
      log,
    };
  }

  #after(milliseconds: number, task: () => void | Promise<void>): () => void {
    if (milliseconds === 0) {
      this.#queue.addOwn(task);
      return () => {};
    }
    const cancel = this.#options.scheduler.after(milliseconds, () => {
      this.#timers.delete(cancel);
      this.#queue.addOwn(task);
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  /** The bot, as the one who calls a model. */
  #caller() {
    const principal = { ...GUEST, kind: "bot" as const, id: `bot:${this.name}`, name: this.name };
    return { principal, address: null, requestId: null };
  }

  #lost(count: number): void {
    this.#record("bot.input_dropped", { bot: this.name, count });
  }

  #record(...[type, data, speaker]: Parameters<BotContext<BotName>["record"]>): void {
    const { database, scheduler, log } = this.#options;
    const origin = originOf(this.name, speaker);
    const event = newEvent(type, data, origin, scheduler.now());
    const recorded = database.commit({ events: [event] }).then(() => {}, (error: unknown) => {
      log.warn("An event of a bot is not logged", { bot: this.name, error });
    });
    this.#recorded = this.#recorded.then(() => recorded);
  }
}

function originOf(bot: string, speaker: Speaker | undefined): Origin {
  if (speaker === undefined || speaker.id === null) {
    return { actor: `bot:${bot}`, actorId: null, address: null, cause: null };
  }
  const actor = `${speaker.kind}:${speaker.account}`;
  return { actor, actorId: speaker.id, address: null, cause: null };
}

const BREAKS = /[\0\r\n]+/g;

/** Lines as IRC can carry them. */
function linesOf(lines: string | readonly string[]): string[] {
  const all = typeof lines === "string" ? [lines] : lines;
  return all.map((line) => line.replaceAll(BREAKS, " ").trim()).filter((line) => line !== "");
}

/** Most inputs that wait for a bot. */
const MAX_WAITING = 1000;

type Task = () => void | Promise<void> | undefined;

/** One that waits; the same task may wait several times. */
interface Input {
  readonly task: Task;
}

/**
 * What happens, for one bot: one thing after the other. While nothing waits, the bot gets it at
 * once. What exceeds the limit is dropped, and its number told when there is room again.
 */
export class InputQueue {
  readonly #onFailure: (error: unknown) => void;
  readonly #onDropped: (count: number) => void;
  readonly #waiting = new BoundedQueue<Input>({ max: MAX_WAITING });
  #running: Promise<void> | null = null;
  /** Whether a task runs that may add others. */
  #isInTask = false;
  #dropped = 0;

  constructor(onFailure: (error: unknown) => void, onDropped: (count: number) => void) {
    this.#onFailure = onFailure;
    this.#onDropped = onDropped;
  }

  add(task: Task): void {
    if (this.#isFree) this.#runAll({ task });
    else if (!this.#waiting.tryAdd({ task })) this.#dropped++;
  }

  /** Adds a task of the bot itself, which is never dropped: the bot counts on it. */
  addOwn(task: Task): void {
    if (this.#isFree) this.#runAll({ task });
    else this.#waiting.add({ task });
  }

  /** Forgets what waits. Resolves when the present task is done. */
  async close(): Promise<void> {
    this.#waiting.clear();
    await this.#running;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Whether nothing runs, so that nothing waits either. */
  get #isFree(): boolean {
    return this.#running === null && !this.#isInTask;
  }

  /** Runs tasks until one of them takes time. */
  #runAll(first = this.#waiting.take()): void {
    for (let input = first; input !== undefined; input = this.#next()) {
      if (this.#dropped > 0) this.#tellDropped();
      this.#isInTask = true;
      try {
        const result = input.task();
        if (result !== undefined) this.#wait(result);
      } catch (error) {
        this.#onFailure(error);
      } finally {
        this.#isInTask = false;
      }
    }
  }

  #next(): Input | undefined {
    return this.#running === null ? this.#waiting.take() : undefined;
  }

  #wait(result: Promise<void>): void {
    this.#running = result.catch((error: unknown) => this.#onFailure(error)).then(() => {
      this.#running = null;
      this.#runAll();
    });
  }

  #tellDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#onDropped(dropped);
  }
}
