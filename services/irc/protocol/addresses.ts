/** IP addresses as text. */

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
