/** Prices of models: those that ship with muster, those of the configuration, and what calls cost. */
export type { Price } from "./schemas.ts";
export { PRICE_LIST } from "./price_list.ts";
export { type CallTokens, type PricedModel, Prices } from "./prices.ts";
