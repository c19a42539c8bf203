/** The tokens of a call; null if the provider did not report them. */
export interface TokenUsage {
  /** Including those of its cache. */
  readonly prompt: number | null;
  readonly completion: number | null;
  /** The part of the prompt that came from the provider's cache. */
  readonly cached: number | null;
  /** The part of the prompt that the provider wrote to its cache. */
  readonly written: number | null;
  /** The part of these that it keeps for a longer time, at a price of its own. */
  readonly writtenLong: number | null;
}

export const UNKNOWN_USAGE: TokenUsage = Object.freeze({
  prompt: null,
  completion: null,
  cached: null,
  written: null,
  writtenLong: null,
});

/** What an answer, or a part of it, tells of its call. */
export interface Report {
  /** What is null keeps what was told before. */
  readonly usage: TokenUsage;
  /** The model that answered; null if it says nothing. */
  readonly model: string | null;
  /** Whether the call is billed at the usual rate; null if it says nothing. */
  readonly isUsualTier: boolean | null;
  /** How many characters of the answer it has. */
  readonly characters: number;
  /** Whether it says that the call failed. */
  readonly isFailure: boolean;
}

export const NOTHING_TOLD: Report = Object.freeze({
  usage: UNKNOWN_USAGE,
  model: null,
  isUsualTier: null,
  characters: 0,
  isFailure: false,
});

/** How many characters of a text make a token, about. */
const CHARACTERS_OF_TOKEN = 4;

/** What a provider has told of a call, as far as it has answered. */
export class Told {
  usage: TokenUsage = UNKNOWN_USAGE;
  /** The model that answered. */
  model: string | null = null;
  /** Whether it is billed at the usual rate. */
  isUsualTier = true;
  hasFailed = false;
  #characters = 0;

  take({ usage, model, isUsualTier, characters, isFailure }: Report): void {
    if (usage !== UNKNOWN_USAGE) this.usage = mergedUsage(this.usage, usage);
    this.model = model ?? this.model;
    this.isUsualTier = isUsualTier ?? this.isUsualTier;
    this.hasFailed ||= isFailure;
    this.#characters += characters;
  }

  /** Tokens of the answer so far, about. */
  get tokens(): number {
    return Math.ceil(this.#characters / CHARACTERS_OF_TOKEN);
  }
}

function mergedUsage(known: TokenUsage, more: TokenUsage): TokenUsage {
  return {
    prompt: more.prompt ?? known.prompt,
    completion: more.completion ?? known.completion,
    cached: more.cached ?? known.cached,
    written: more.written ?? known.written,
    writtenLong: more.writtenLong ?? known.writtenLong,
  };
}

/** A number of tokens in an answer; null if it is none. */
export function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
}

/** A name in an answer; null if it is none. */
export function nameOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Tokens that an image or a file takes, about. */
const TOKENS_OF_FILE = 1000;

/** Tokens of an answer whose length the request does not limit, about. */
const USUAL_ANSWER = 1000;

/** The content of an image or a file in a request. */
const DATA_URL = /"(?:data:|[A-Za-z0-9+/]{1000})[^"]*"/g;

/** Tokens of the parts of a request, about. */
export function tokensOf(parts: readonly unknown[]): number {
  let files = 0;
  const text = JSON.stringify(parts).replace(DATA_URL, () => {
    files++;
    return "";
  });
  return Math.ceil(text.length / CHARACTERS_OF_TOKEN) + files * TOKENS_OF_FILE;
}

/** The most tokens that an answer may have, or a usual number. */
export function tokensOfAnswer(limit: unknown): number {
  return typeof limit === "number" && limit >= 0 ? limit : USUAL_ANSWER;
}
