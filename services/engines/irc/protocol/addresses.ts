/** IP addresses as text. */
import { createHash } from "node:crypto";

/** The address unchanged, or null if the text is no IPv4 address. */
export function canonicalIpv4(text: string): string | null {
  const parts = text.split(".");
  const isValid = parts.length === 4 &&
    parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
  return isValid ? text : null;
}

/**
 * The shortest form of an IPv6 address; an IPv4 address that is written as IPv6 becomes plain. Null
 * if the text is none.
 */
export function canonicalIpv6(text: string): string | null {
  if (!/^[0-9A-Fa-f:.]+$/.test(text)) return null;
  const address = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (address === undefined) return null;
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const [upper, lower] = [parseInt(high, 16), parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join(".");
}

/** An address as a parameter of a message, which may not begin with a colon: `0::1` for `::1`. */
export function addressParameter(address: string): string {
  return address.startsWith(":") ? `0${address}` : address;
}

/** Labels of a cloaked host before the suffix, each this long. */
const LABEL_LENGTH = 10;

/**
 * The host that other users see in place of an IP address. One address and key always give the same
 * cloak, which reveals nothing without the key. Addresses of one IPv6 /64 share their last label.
 */
export function cloakAddress(socket: string, key: Uint8Array): string {
  const address = socket.replace(/^::ffff:(?=\d+\.)/i, "");
  const network = addressNetwork(address);
  const label = keyedLabel(network, key);
  return network === address ? `${label}.ip` : `${keyedLabel(address, key)}.${label}.ip`;
}

/**
 * The cloak of a host that is an IP address, or the mask of the cloaks of an IPv6 /64. Anything else
 * stays as it is.
 */
export function cloakHost(host: string, key: Uint8Array): string {
  const [text = "", length] = host.split("/");
  const address = canonicalIpv4(text) ?? canonicalIpv6(text);
  if (address === null) return host;
  const cloak = cloakAddress(address, key);
  if (length === undefined) return cloak;
  return length === "64" && address.includes(":") ? cloak.replace(/^[^.]+/, "*") : host;
}

/**
 * The part of an address that counts as one client: an IPv4 address, or the first 64 bits of an
 * IPv6 address.
 */
export function addressNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1] as string;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill("0"), ...after];
  return groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(":") + "::/64";
}

/** Whether the address is this machine's own. */
export function isLoopback(address: string): boolean {
  return address === "::1" || address === "localhost" ||
    /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}

function keyedLabel(text: string, key: Uint8Array): string {
  const inner = createHash("sha256").update(key).update(text).digest();
  return createHash("sha256").update(key).update(inner).digest("hex").slice(0, LABEL_LENGTH);
}
