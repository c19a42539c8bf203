import { formatNetwork, parseNetwork } from "../services/kernel/ip_network.ts";

/** A hop as proxies write it: an address, `v4:port`, `[v6]` or `[v6]:port`. */
const HOP = /^(?:\[(?<bracketed>[^\]]*)\](?::\d{1,5})?|(?<v4>[\d.]+):\d{1,5}|(?<plain>.*))$/s;

/** Forms of an address that differ from the one {@link TrustedProxies} stores. */
const UNUSUAL = /^::ffff:|%/i;

/** Where a request comes from. */
export interface Client {
  readonly address: string;
  /** Whether it came over TLS, to this program or to a trusted proxy. */
  readonly secure: boolean;
}

/** The proxies whose `X-Forwarded-For` is believed. */
export class TrustedProxies {
  readonly #addresses: ReadonlySet<string>;

  /** @param addresses IP addresses, in any form */
  constructor(addresses: readonly string[]) {
    this.#addresses = new Set(addresses.map((address) => canonicalAddress(address) ?? address));
  }

  /** Whether a socket belongs to one of these proxies. */
  includes(socket: string): boolean {
    return this.#addresses.has(usual(socket));
  }

  /**
   * Finds the client's address, and whether the client came over TLS. A trusted proxy reports both,
   * in `X-Forwarded-For` and `X-Forwarded-Proto`.
   *
   * @param socket the address of the socket
   */
  identify(socket: string, { url, headers }: Pick<Request, "url" | "headers">): Client {
    const address = this.addressOf(socket, headers);
    const isProxied = this.includes(socket);
    const scheme = isProxied ? headers.get("x-forwarded-proto") : null;
    const secure = scheme === null ? /^https:/i.test(url) : scheme.toLowerCase() === "https";
    return { address, secure };
  }

  /** The client's address, as {@linkcode identify} finds it. */
  addressOf(socket: string, headers: Headers): string {
    return this.clientOf(socket, this.includes(socket) ? headers.get("x-forwarded-for") : null);
  }

  /**
   * Finds the client's address: that of the socket or, if the socket belongs to a trusted proxy,
   * the last hop of `X-Forwarded-For` that is not a trusted proxy. A hop may have a port, brackets
   * or a zone, and may write an IPv4 address as IPv6; the result is the plain address. If a hop is
   * malformed, the result is the proxy that wrote it.
   *
   * @param socket the address of the socket
   * @param header the `X-Forwarded-For` header
   */
  clientOf(socket: string, header: string | null | undefined): string {
    let address = usual(socket);
    if (!header || !this.#addresses.has(address)) return address;
    const hops = header.split(",");
    while (this.#addresses.has(address)) {
      const hop = canonicalHop(hops.pop() ?? "");
      if (hop === null) break;
      address = hop;
    }
    return address;
  }
}

function usual(socket: string): string {
  return socket.includes(":") && UNUSUAL.test(socket) ? canonicalAddress(socket) ?? socket : socket;
}

function canonicalHop(text: string): string | null {
  const { bracketed, v4, plain } = HOP.exec(text.trim())?.groups ?? {};
  return canonicalAddress(bracketed ?? v4 ?? plain ?? "");
}

/** The address in its shortest form, without its zone; null if the text is not an address. */
function canonicalAddress(text: string): string | null {
  if (text.includes("/")) return null;
  const network = parseNetwork(text);
  return network === null ? null : formatNetwork(network);
}
