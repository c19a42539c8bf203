/** The addresses to which a webhook may connect. */
import { type Network, parseNetwork, widen } from "../identity/mod.ts";

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
