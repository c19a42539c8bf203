import { TokenBucket } from "../../kernel/token_bucket.ts";
import { amount } from "../../kernel/words.ts";
import { PURPOSES } from "../policies/mod.ts";
import { Invalid, ServiceError, TimedOut, Unavailable } from "../../kernel/errors.ts";
import { channelName } from "../../engines/irc/mod.ts";
import { type BotCommandCall, type BotContext, type BotInstance, defineBot } from "./bot.ts";
import type { HeraldDesk } from "./herald_desk.ts";
import { NO_CHANNEL } from "./readable.ts";

/** In place of no limit; the bot keeps its own pace, by notices instead of lines. */
const UNLIMITED = 1_000_000;

/**
 * Notices that are announced in one turn, and the pause after it in milliseconds. Then it is the turn
 * of commands to the bot and of everything else, also without a limit of the pace.
 */
const NOTICES_IN_A_TURN = 10;
const TURN_PAUSE_MS = 1;

/** Pause before another attempt while IRC is away, in milliseconds. */
const RETRY_MS = 5000;

/** Announces events from outside in channels, at the pace of its settings. */
class Herald implements BotInstance {
  readonly #context: BotContext<"herald">;
  readonly #desk: HeraldDesk;
  readonly #detach: () => void;
  /** Null without a limit. */
  #bucket: TokenBucket | null = null;
  #isBusy = false;
  #cancelPause: () => void = () => {};

  constructor(context: BotContext<"herald">, desk: HeraldDesk) {
    this.#context = context;
    this.#desk = desk;
    this.#detach = desk.attach(() => this.#wake(0));
  }

  stop(): void {
    this.#detach();
  }

  settingsChanged(): void {
    // The pause may be another one now.
    this.#cancelPause();
    this.#isBusy = false;
    this.#wake(0);
  }

  status(): string {
    const { rate_limit: rate, burst } = this.#context.settings();
    const pace = rate === 0 ? "without a limit" : `at ${rate} per second, ${burst} at once`;
    const { waiting } = this.#desk;
    const wait = waiting === 1 ? "1 notice waits" : `${waiting} notices wait`;
    return `${wait}; ${amount(this.#desk.sources().length, "source")}; ${pace}`;
  }

  routes(): string[] {
    const { routes, channel } = this.#context.settings();
    const shown = Object.entries(routes).map(([prefix, target]) => `${prefix}… to ${target}`);
    return [...shown, `everything else to ${channel}`];
  }

  /** @throws Invalid, and what the desk throws */
  async test({ words: [wanted], speaker }: BotCommandCall): Promise<string> {
    if (wanted !== undefined && channelName(wanted) === null) throw new Invalid(NO_CHANNEL);
    const notice = { type: "test", text: `A test by ${speaker.nick}` };
    const { channel } = await this.#desk.announce(notice, wanted);
    return `A test goes to ${channel}`;
  }

  #wake(milliseconds: number): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#cancelPause = this.#context.after(milliseconds, async () => {
      this.#isBusy = false;
      await this.#announceNext();
    });
  }

  async #announceNext(): Promise<void> {
    for (let announced = 0; this.#desk.waiting > 0; announced++) {
      if (announced === NOTICES_IN_A_TURN) return this.#wake(TURN_PAUSE_MS);
      const pause = this.#pause();
      if (pause > 0) return this.#wake(pause);
      const notice = await this.#desk.next();
      if (notice === null) return;
      const [first = "", ...more] = notice.text.split("\n");
      try {
        await this.#context.enter(notice.channel);
        await this.#context.deliver(notice.channel, [`[${notice.type}] ${first}`, ...more]);
      } catch (error) {
        const isAway = error instanceof Unavailable || error instanceof TimedOut;
        if (isAway) return this.#wake(RETRY_MS);
        if (!(error instanceof ServiceError)) throw error;
        this.#context.record("bot.lines_dropped", { bot: "herald", count: 1 });
      }
      await this.#desk.remove(notice);
    }
  }

  /** Takes the turn of one notice; returns the milliseconds until there is one, or 0. */
  #pause(): number {
    const { rate_limit: rate, burst } = this.#context.settings();
    if (rate === 0) {
      this.#bucket = null;
      return 0;
    }
    const now = this.#context.now();
    const pace = { perSecond: rate, burst };
    this.#bucket ??= new TokenBucket(pace, now);
    this.#bucket.follow(pace, now);
    return this.#bucket.tryTake(now);
  }
}

/** The bot that announces events from outside. */
export function herald(desk: HeraldDesk) {
  return defineBot<"herald", Herald>({
    name: "herald",
    purpose: PURPOSES.herald,
    commands: [
      {
        name: "STATUS",
        usage: "",
        purpose: "how many events wait to be announced, and at which pace",
        may: "anyone",
        run: (bot) => bot.status(),
      },
      {
        name: "ROUTES",
        usage: "",
        purpose: "which events go to which channel",
        may: "account",
        run: (bot) => bot.routes(),
      },
      {
        name: "TEST",
        usage: "[#channel]",
        purpose: "announces a test",
        may: "admin",
        run: (bot, call) => bot.test(call),
      },
    ],
    pace: () => ({ perSecond: UNLIMITED, burst: UNLIMITED }),
    start: (context) => new Herald(context, desk),
  });
}
