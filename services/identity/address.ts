import { addressNetwork } from "../irc/mod.ts";

/** Longest address; a proxy may pass on anything as an address. */
const MAX_LENGTH = 64;

/**
 * The part of an address that counts as one source of attempts: an IPv4 address, or the first 64
 * bits of an IPv6 address, which one customer gets.
 */
export function placeOf(address: string): string {
  return addressNetwork(address).slice(0, MAX_LENGTH);
}
