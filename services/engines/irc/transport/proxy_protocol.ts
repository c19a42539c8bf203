/**
 * The PROXY protocol, versions 1 and 2, as HAProxy's document "The PROXY protocol" specifies it: a
 * header in front of a connection's bytes that names the client's address.
 */

import { canonicalIpv4, canonicalIpv6 } from "../protocol/addresses.ts";

/** Longest header of version 1, with CR LF. */
const TEXT_BYTES = 107;

/** Version 2: the bytes before its addresses, and most bytes after, extensions included. */
const FIXED_BYTES = 16;
const MAX_BINARY_BYTES = 2048;

const TEXT_START = new TextEncoder().encode("PROXY ");
const SIGNATURE = Uint8Array.from([13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]);

const TEXT_HEADER =
  /^PROXY (?:UNKNOWN(?: [ -~]*)?|TCP([46]) ([0-9A-Fa-f:.]+) ([0-9A-Fa-f:.]+) (\d{1,5}) (\d{1,5}))\r\n$/;

/** The beginning of a connection. */
export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: "partial" }
  /** Not a header. */
  | { readonly kind: "malformed" }
  /**
   * A header of this length. `address` is the client's IP address; null if the proxy speaks for
   * itself or does not know it.
   */
  | { readonly kind: "complete"; readonly length: number; readonly address: string | null };

const PARTIAL: ProxyHeader = { kind: "partial" };
const MALFORMED: ProxyHeader = { kind: "malformed" };

/** Reads the header from the first bytes of a connection. Never throws. */
export function parseProxyHeader(bytes: Uint8Array): ProxyHeader {
  if (begins(bytes, SIGNATURE)) {
    return bytes.length < FIXED_BYTES ? PARTIAL : parseBinary(bytes);
  }
  if (begins(bytes, TEXT_START)) return parseText(bytes);
  return MALFORMED;
}

/** Whether bytes and a pattern agree up to the end of the shorter one. */
function begins(bytes: Uint8Array, pattern: Uint8Array): boolean {
  return pattern.every((value, index) => index >= bytes.length || bytes[index] === value);
}

function parseText(bytes: Uint8Array): ProxyHeader {
  const end = bytes.indexOf(10);
  if (end === -1) return bytes.length < TEXT_BYTES ? PARTIAL : MALFORMED;
  const length = end + 1;
  if (length > TEXT_BYTES) return MALFORMED;
  const [text, family, source = "", target = "", ...ports] =
    TEXT_HEADER.exec(String.fromCharCode(...bytes.subarray(0, length))) ?? [];
  if (text === undefined) return MALFORMED;
  if (family === undefined) return { kind: "complete", length, address: null };
  const canonical = family === "4" ? canonicalIpv4 : canonicalIpv6;
  const address = canonical(source);
  const isValid = address !== null && canonical(target) !== null &&
    ports.every((port) => Number(port) <= 65_535);
  return isValid ? { kind: "complete", length, address } : MALFORMED;
}

function parseBinary(bytes: Uint8Array): ProxyHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, family] = [view.getUint8(12), view.getUint8(13)];
  const size = view.getUint16(14);
  const isLocal = version === 0x20;
  if ((!isLocal && version !== 0x21) || size > MAX_BINARY_BYTES) return MALFORMED;
  const length = FIXED_BYTES + size;
  const needed = ADDRESS_BYTES.get(family);
  if (!isLocal && (needed === undefined || size < needed)) return MALFORMED;
  if (bytes.length < length) return PARTIAL;
  const isUnknown = isLocal || needed === 0;
  return { kind: "complete", length, address: isUnknown ? null : addressIn(bytes, family) };
}

/** Bytes of both addresses and ports by transport and family: none, TCP over IPv4, over IPv6. */
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([[0x00, 0], [0x11, 12], [0x21, 36]]);

function addressIn(bytes: Uint8Array, family: number): string | null {
  if (family === 0x11) return bytes.subarray(FIXED_BYTES, FIXED_BYTES + 4).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => {
    const at = FIXED_BYTES + index * 2;
    return ((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)).toString(16);
  });
  return canonicalIpv6(groups.join(":"));
}

/** Whether an address belongs to a proxy, also in its form as an IPv6 address. */
export function isProxy(proxies: readonly string[], address: string): boolean {
  return proxies.includes(address.replace(/^::ffff:(?=\d+\.)/i, ""));
}

/** How long a proxy may take to send its header. */
const HEADER_MILLISECONDS = 5000;

/** A connection whose header has been read. */
export interface ProxiedConnection {
  /** The client's IP address; null if it is the proxy's own. */
  readonly address: string | null;
  /** What came after the header. */
  readonly rest: Uint8Array<ArrayBuffer>;
}

/**
 * Reads the header of a new connection. Closes the connection and returns null if none arrives in
 * time.
 */
export async function readProxyHeader(conn: Deno.Conn): Promise<ProxiedConnection | null> {
  const timer = setTimeout(() => closeConnection(conn), HEADER_MILLISECONDS);
  const buffer = new Uint8Array(FIXED_BYTES + MAX_BINARY_BYTES);
  let length = 0;
  try {
    while (length < buffer.length) {
      const count = await conn.read(buffer.subarray(length));
      if (count === null) break;
      length += count;
      const header = parseProxyHeader(buffer.subarray(0, length));
      if (header.kind === "malformed") break;
      if (header.kind === "complete") {
        return { address: header.address, rest: buffer.slice(header.length, length) };
      }
    }
  } catch {
    // The other side closed it, or its time is over.
  } finally {
    clearTimeout(timer);
  }
  closeConnection(conn);
  return null;
}

/** Closes a connection that may be closed already. */
export function closeConnection(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // It is already closed.
  }
}
