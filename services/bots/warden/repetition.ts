import { parseEnvelope } from "../../bridge/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";

/** Most channels whose last messages are known at one time. */
const MAX_CHANNELS = 2000;

/** Repeated often enough among the last messages of a channel, a text is a loop. */
const LOOP = { times: 3, among: 10 } as const;

/** Messages of two speakers in turn, when each says little that is new. */
const SHORT_EXCHANGE = 8;
const MAX_DIFFERENT_TEXTS = 2;

/** Messages of two programs in turn, whatever they say. */
const LONG_EXCHANGE = 20;

/** Older messages belong to no loop and to no exchange, in milliseconds. */
const MAX_AGE = 120_000;

/** Characters of a text that are compared, beside its length. */
const COMPARED = 200;

/** What is wrong with a message, given the ones before it. */
export type Pattern = "loop" | "ping_pong";

/** A message, for the comparison with others. */
export interface Utterance {
  readonly speaker: string;
  /** Whether a program says it. */
  readonly isProgram: boolean;
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
}

interface Noted {
  readonly speaker: string;
  readonly isProgram: boolean;
  /** Equal for texts that say the same. */
  readonly saying: string;
  readonly time: number;
}

/**
 * Finds speakers that repeat themselves, and pairs of speakers that answer each other without end.
 * Two people may take turns as long as they like if they say something new.
 */
export class Repetition {
  readonly #channels = new BoundedMap<string, Noted[]>(MAX_CHANNELS);

  /** Adds a message to its channel. Returns the pattern that it completes, or null. */
  add(channel: string, { speaker, isProgram, text, time }: Utterance): Pattern | null {
    const noted = this.#channels.use(channel, () => []);
    noted.push({ speaker, isProgram, saying: sayingOf(text), time });
    while (noted.length > LONG_EXCHANGE) noted.shift();
    const recent = noted.filter((message) => time - message.time <= MAX_AGE);
    if (isLoop(recent)) return "loop";
    return isPingPong(recent) ? "ping_pong" : null;
  }

  /** Forgets what was said in a channel, after an exchange in it was stopped. */
  forget(channel: string): void {
    this.#channels.delete(channel);
  }
}

function isLoop(recent: readonly Noted[]): boolean {
  const last = recent.at(-1);
  const same = recent.slice(-LOOP.among).filter(({ speaker, saying }) =>
    speaker === last?.speaker && saying === last.saying
  );
  return same.length >= LOOP.times;
}

function isPingPong(recent: readonly Noted[]): boolean {
  const short = recent.slice(-SHORT_EXCHANGE);
  if (isExchange(short, SHORT_EXCHANGE)) {
    const [one, other] = [0, 1].map((side) =>
      new Set(short.filter((_, index) => index % 2 === side).map(({ saying }) => saying)).size
    );
    if (Math.max(one ?? 0, other ?? 0) <= MAX_DIFFERENT_TEXTS) return true;
  }
  return isExchange(recent, LONG_EXCHANGE) && recent.every(({ isProgram }) => isProgram);
}

/** Whether two speakers, and nobody else, take turns. */
function isExchange(messages: readonly Noted[], length: number): boolean {
  if (messages.length < length || messages[0]?.speaker === messages[1]?.speaker) return false;
  return messages.every(({ speaker }, index) => speaker === messages[index % 2]?.speaker);
}

/** Ids and times of envelopes differ even if they say the same. */
function sayingOf(text: string): string {
  const envelope = text.startsWith("{") ? parseEnvelope(text) : null;
  const said = envelope === null
    ? text.trim().toLowerCase().replace(/\s+/g, " ")
    : JSON.stringify([envelope.type, envelope.payload]);
  return `${said.length}:${said.slice(0, COMPARED)}`;
}
