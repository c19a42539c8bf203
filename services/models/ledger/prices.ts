import type { Price } from "./schemas.ts";

/** The tokens of a call; null if they are not known. */
export interface CallTokens {
  /** Including those that the provider read from its cache, or wrote to it. */
  readonly input: number | null;
  readonly output: number | null;
  /** The part of the input that came from the provider's cache; null if it does not say. */
  readonly cached: number | null;
  /** The part of the input that the provider wrote to its cache; null if it does not say. */
  readonly written: number | null;
  /** The part of these that it keeps for a longer time, at a price of its own. */
  readonly writtenLong: number | null;
}

/** The model of a call. */
export interface PricedModel {
  /** The name of the backend's provider. */
  readonly provider: string;
  /** The names that it has, the most precise one first. */
  readonly models: readonly string[];
  /** Whether the provider bills it at its usual rate, and not that of another tier of service. */
  readonly isUsualTier: boolean;
}

/**
 * Prices of models. The first one that fits counts: those of the configuration come before those that
 * ship with muster.
 */
export class Prices {
  readonly #prices: readonly Price[];

  constructor(prices: readonly Price[]) {
    this.#prices = prices;
  }

  /**
   * The cost of a call in millionths of a US dollar, rounded to the nearest; null if the tokens or
   * their price are not known. A dollar for a million tokens is a millionth for one.
   */
  costOf(called: PricedModel, tokens: CallTokens): number | null {
    const { input, output } = tokens;
    if (input === null || output === null || !called.isUsualTier) return null;
    const price = this.#find(called, input);
    if (price === null) return null;
    const cached = Math.min(tokens.cached ?? 0, input);
    const written = Math.min(tokens.written ?? 0, input - cached);
    const long = Math.min(tokens.writtenLong ?? 0, written);
    const parts: readonly (readonly [number, number | undefined])[] = [
      [input - cached - written, price.input],
      [cached, price.cached_input],
      [written - long, price.cache_write],
      [long, price.cache_write_long],
      [output, price.output],
    ];
    let cost = 0;
    for (const [count, dollars] of parts) {
      if (count > 0 && dollars === undefined) return null;
      cost += count * (dollars ?? 0);
    }
    return Math.round(cost);
  }

  #find({ provider, models }: PricedModel, input: number): Price | null {
    for (const model of models) {
      const price = this.#prices.find((candidate) =>
        (candidate.provider ?? provider) === provider &&
        input <= (candidate.max_input_tokens ?? Infinity) &&
        fits(model, candidate.model)
      );
      if (price !== undefined) return price;
    }
    return null;
  }
}

function fits(model: string, pattern: string): boolean {
  return pattern.endsWith("*") ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
}

type Listed = readonly [models: readonly string[], ...prices: Pick<
  Price,
  "input" | "output" | "cached_input" | "max_input_tokens"
>[]];

/**
 * Without GPT-5.6 and GPT-6: OpenAI bills what they write to the cache at a rate of its own, which
 * depends on how long it is kept. Longer inputs than the limits below cost more.
 */
const OPENAI: readonly Listed[] = [
  [["gpt-5.5", "gpt-5.5-20*"], {
    input: 5,
    cached_input: 0.5,
    output: 30,
    max_input_tokens: 272_000,
  }],
  [["gpt-5.4", "gpt-5.4-20*"], {
    input: 2.5,
    cached_input: 0.25,
    output: 15,
    max_input_tokens: 272_000,
  }],
  [["gpt-5.4-mini", "gpt-5.4-mini-20*"], { input: 0.75, cached_input: 0.075, output: 4.5 }],
  [["gpt-5.4-nano", "gpt-5.4-nano-20*"], { input: 0.2, cached_input: 0.02, output: 1.25 }],
  [["gpt-5.2", "gpt-5.2-20*", "gpt-5.2-codex", "gpt-5.3-codex"], {
    input: 1.75,
    cached_input: 0.175,
    output: 14,
  }],
  [["gpt-5.1", "gpt-5.1-20*"], { input: 1.25, cached_input: 0.125, output: 10 }],
  [["gpt-5", "gpt-5-20*"], { input: 1.25, cached_input: 0.125, output: 10 }],
  [["gpt-5-mini", "gpt-5-mini-20*"], { input: 0.25, cached_input: 0.025, output: 2 }],
  [["gpt-5-nano", "gpt-5-nano-20*"], { input: 0.05, cached_input: 0.005, output: 0.4 }],
  [["gpt-4.1", "gpt-4.1-20*"], { input: 2, cached_input: 0.5, output: 8 }],
  [["gpt-4.1-mini", "gpt-4.1-mini-20*"], { input: 0.4, cached_input: 0.1, output: 1.6 }],
  [["gpt-4.1-nano", "gpt-4.1-nano-20*"], { input: 0.1, cached_input: 0.025, output: 0.4 }],
  [["gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"], {
    input: 2.5,
    cached_input: 1.25,
    output: 10,
  }],
  [["gpt-4o-mini", "gpt-4o-mini-2024-07-18"], { input: 0.15, cached_input: 0.075, output: 0.6 }],
  [["o3", "o3-20*"], { input: 2, cached_input: 0.5, output: 8 }],
  [["o4-mini", "o4-mini-20*"], { input: 1.1, cached_input: 0.275, output: 4.4 }],
  [["o3-mini", "o3-mini-20*"], { input: 1.1, cached_input: 0.55, output: 4.4 }],
];

/**
 * Without Claude Haiku 5.5, whose price depends on more than its tokens. Tokens written to the cache
 * cost 1.25 times as much as others for five minutes, and twice as much for an hour.
 */
const ANTHROPIC: readonly Listed[] = [
  // The page has a footnote to the price of its cache.
  [["claude-fable-5-1"], { input: 10, output: 50 }],
  [["claude-fable-5"], { input: 10, cached_input: 1, output: 50 }],
  [["claude-opus-5-5"], { input: 4, cached_input: 0.2, output: 20 }],
  [["claude-opus-5"], { input: 5, cached_input: 0.5, output: 25 }],
  [["claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6"], {
    input: 5,
    cached_input: 0.5,
    output: 25,
    max_input_tokens: 200_000,
  }],
  [["claude-opus-4-5", "claude-opus-4-5-20*"], { input: 5, cached_input: 0.5, output: 25 }],
  [["claude-sonnet-5-5", "claude-sonnet-5"], { input: 2, cached_input: 0.2, output: 10 }],
  [["claude-sonnet-4-6"], { input: 3, cached_input: 0.3, output: 15, max_input_tokens: 200_000 }],
  [["claude-opus-4-1", "claude-opus-4-1-20*", "claude-opus-4-0", "claude-opus-4-20*"], {
    input: 15,
    cached_input: 1.5,
    output: 75,
  }],
  [["claude-sonnet-4-5", "claude-sonnet-4-5-20*", "claude-sonnet-4-0", "claude-sonnet-4-20*"], {
    input: 3,
    cached_input: 0.3,
    output: 15,
    max_input_tokens: 200_000,
  }],
  [["claude-haiku-4-5", "claude-haiku-4-5-20*"], { input: 1, cached_input: 0.1, output: 5 }],
  [["claude-3-7-sonnet-latest", "claude-3-7-sonnet-20*"], {
    input: 3,
    cached_input: 0.3,
    output: 15,
  }],
  [["claude-3-5-haiku-latest", "claude-3-5-haiku-20*"], {
    input: 0.8,
    cached_input: 0.08,
    output: 4,
  }],
  [["claude-3-haiku-20*"], { input: 0.25, cached_input: 0.03, output: 1.25 }],
];

/** Without prices of cached tokens, because Google also bills the time of their storage. */
const GEMINI: readonly Listed[] = [
  [["gemini-2.5-pro"], { input: 1.25, output: 10, max_input_tokens: 200_000 }, {
    input: 2.5,
    output: 15,
  }],
];

/**
 * The prices that ship with muster, in US dollars for a million tokens. They have a
 * provider's own models whose price is public, the same for every customer, and the same for texts
 * and images.
 *
 * They were compared on 2026-11-23: those of Anthropic with its own page, the others in part, with
 * copies of the pages.
 *
 * @see https://developers.openai.com/api/docs/pricing
 * @see https://platform.claude.com/docs/en/about-claude/pricing
 * @see https://ai.google.dev/gemini-api/docs/pricing
 */
export const PRICE_LIST: readonly Price[] = Object.freeze([
  ...pricesOf("openai", OPENAI),
  ...pricesOf("anthropic", ANTHROPIC).map((price) => ({
    ...price,
    cache_write: 1.25 * price.input,
    cache_write_long: 2 * price.input,
  })),
  ...pricesOf("gemini", GEMINI),
]);

function pricesOf(provider: string, listed: readonly Listed[]): Price[] {
  return listed.flatMap(([models, ...prices]) =>
    models.flatMap((model) => prices.map((price) => ({ provider, model, ...price })))
  );
}

/** Prices of models: those that ship with muster, those of the configuration, and what calls cost. */
export type { Price } from "./schemas.ts";
