/** Networks of IP addresses, written as `192.0.2.0/24` or `2001:db8::/32` (RFC 4632, RFC 4291). */

/** An address, or all addresses with the same leading bits. */
export interface Network {
  /** 32 for IPv4, 128 for IPv6. */
  readonly bits: 32 | 128;
  /** The length of the prefix. */
  readonly prefix: number;
  /** The address with all other bits 0. */
  readonly value: bigint;
}

/** The network in a canonical form, or null if the text is none. */
export function parseNetwork(text: string): Network | null {
  const [address = "", length, ...more] = text.split("/");
  const parsed = parseAddress(address);
  if (parsed === null || more.length > 0) return null;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null;
  const { bits, value, skipped } = parsed;
  const prefix = length === undefined ? bits : Number(length) - skipped;
  if (prefix < 0 || prefix > bits) return null;
  return { bits, prefix, value: masked(value, bits, prefix) };
}

/** The network with a prefix of this length that contains an address. */
export function widen({ bits, value }: Network, prefix: number): Network {
  return { bits, prefix, value: masked(value, bits, prefix) };
}

/** The network as text; a single address without its length. */
export function formatNetwork({ bits, prefix, value }: Network): string {
  const address = bits === 32 ? formatIpv4(value) : formatIpv6(value);
  return prefix === bits ? address : `${address}/${prefix}`;
}

function masked(value: bigint, bits: number, prefix: number): bigint {
  const rest = BigInt(bits - prefix);
  return (value >> rest) << rest;
}

/** Bits before an IPv4 address that is written as an IPv6 one (RFC 4291, section 2.5.5.2). */
const MAPPED_PREFIX = 96;

interface Address extends Pick<Network, "bits" | "value"> {
  /** Bits in the text that are not part of the address. */
  readonly skipped: number;
}

function parseAddress(text: string): Address | null {
  const [address = ""] = text.split("%", 1);
  const ipv4 = parseIpv4(address);
  if (ipv4 !== null) return { bits: 32, value: ipv4, skipped: 0 };
  const ipv6 = parseIpv6(address);
  if (ipv6 === null) return null;
  return ipv6 >> 32n === 0xffffn
    ? { bits: 32, value: ipv6 & 0xffff_ffffn, skipped: MAPPED_PREFIX }
    : { bits: 128, value: ipv6, skipped: 0 };
}

function parseIpv4(text: string): bigint | null {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return null;
  const parts = text.split(".").map(Number);
  if (parts.some((part) => part > 255)) return null;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function parseIpv6(address: string): bigint | null {
  const end = address.lastIndexOf(":") + 1;
  const text = end === 0 ? address : address.slice(0, end) + hexadecimal(address.slice(end));
  if (!/^[0-9a-f:]{2,39}$/i.test(text)) return null;
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [before = [], after] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - before.length - (after?.length ?? 0);
  if (after === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...before, ...Array<string>(missing).fill("0"), ...(after ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** The end of an IPv6 address that is written as an IPv4 one, as two groups. */
function hexadecimal(ipv4: string): string {
  const value = parseIpv4(ipv4);
  return value === null ? ipv4 : `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
}

/** The longest run of zeros is omitted (RFC 5952). */
function formatIpv6(value: bigint): string {
  const shifts = Array.from({ length: 8 }, (_, index) => BigInt(112 - 16 * index));
  const text = shifts.map((shift) => ((value >> shift) & 0xffffn).toString(16)).join(":");
  const runs = [...text.matchAll(/\b0(?::0)+/g)].toSorted((one, other) =>
    other[0].length - one[0].length
  );
  const [longest] = runs;
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index).replace(/:$/, "");
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, "");
  return `${before}::${after}`;
}
