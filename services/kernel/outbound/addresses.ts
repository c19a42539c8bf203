/** The addresses to which muster may connect on behalf of others. */
import { lookup } from "node:dns/promises";
import { type Network, parseNetwork, widen } from "../ip_network.ts";

/**
 * IPv4 outside the public internet (IANA special-purpose registry), including clouds' metadata
 * services.
 */
const CLOSED_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "168.63.129.16",
];

/** Global unicast IPv6. NAT64, mapped, local, link-local and multicast addresses lie outside. */
const OPEN_IPV6 = ["2000::/3"];

/** Special parts of it, and those that lead to IPv4: Teredo and others, documentation, 6to4. */
const CLOSED_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/**
 * Whether an IP address belongs to the public internet. A mapped address counts as its IPv4
 * address.
 */
export function isPublicAddress(text: string): boolean {
  if (text.includes("%") || text.includes("/")) return false;
  const address = parseNetwork(text);
  if (address === null) return false;
  if (address.bits === 32) return !isIn(address, CLOSED_IPV4);
  return isIn(address, OPEN_IPV6) && !isIn(address, CLOSED_IPV6);
}

function isIn(address: Network, list: readonly string[]): boolean {
  return list.some((text) => {
    const network = parseNetwork(text);
    return network !== null && network.bits === address.bits &&
      widen(address, network.prefix).value === network.value;
  });
}

/** Longest resolution of a name, in milliseconds. */
const RESOLVE_MILLISECONDS = 15_000;

/** Resolves a host name to its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Which addresses are allowed, and how names are resolved. */
export interface AddressRules {
  /** Whether local and private addresses are allowed. */
  readonly allowPrivate: boolean;
  /** By default, what this machine's resolver says. */
  readonly resolve?: Resolve;
}

/** A host without an address, or with one that is not allowed. */
export class ClosedHost extends Error {
  override readonly name = "ClosedHost";
}

/**
 * Resolves a host once, and checks each of its addresses.
 *
 * @param host a name or an address, with or without the brackets of IPv6
 * @returns its addresses, of which there is at least one
 * @throws ClosedHost
 */
export async function checkedAddresses(
  host: string,
  { allowPrivate, resolve = resolveHost }: AddressRules,
): Promise<readonly [string, ...string[]]> {
  const name = host.replace(/^\[|\]$/g, "");
  const [first, ...others] = await resolve(name).catch(() => []);
  if (first === undefined) throw new ClosedHost(`The host ${name} has no address`);
  const closed = allowPrivate
    ? undefined
    : [first, ...others].find((address) => !isPublicAddress(address));
  if (closed === undefined) return [first, ...others];
  throw new ClosedHost(
    `The host ${name} has the address ${closed}, which is not on the public internet; ` +
      "webhooks.allow_private in config.yaml allows such addresses",
  );
}

async function resolveHost(host: string): Promise<readonly string[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("No answer in time")), RESOLVE_MILLISECONDS);
  try {
    const found = await Promise.race([lookup(host, { all: true }), promise]);
    return found.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}
