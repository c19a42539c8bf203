import { addressNetwork } from "../irc/mod.ts";

/** Longest text that stands for a place; a proxy may pass on anything as an address. */
const MAX_LENGTH = 64;

/**
 * What counts as one place that attempts come from: an IPv4 address, or the first 64 bits of an
 * IPv6 address, which is what one customer gets.
 */
export function placeOf(address: string): string {
  return addressNetwork(address).slice(0, MAX_LENGTH);
}
