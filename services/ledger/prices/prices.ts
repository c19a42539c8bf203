import type { Price } from "./schemas.ts";

/** The tokens of a call; null if they are not known. */
export interface CallTokens {
  /** Including those that the provider read from its cache. */
  readonly input: number | null;
  readonly output: number | null;
  /** The part of the input that came from the provider's cache; null if it does not say. */
  readonly cached: number | null;
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
  costOf(called: PricedModel, { input, output, cached }: CallTokens): number | null {
    if (input === null || output === null || !called.isUsualTier) return null;
    const price = this.#find(called, input);
    if (price === null) return null;
    const fromCache = Math.min(cached ?? 0, input);
    if (fromCache > 0 && price.cached_input === undefined) return null;
    const fresh = (input - fromCache) * price.input;
    return Math.round(fresh + fromCache * (price.cached_input ?? 0) + output * price.output);
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
