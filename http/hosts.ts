import { type Config, parseAddress } from "../services/config/mod.ts";
import { isLoopback } from "../services/irc/mod.ts";
import { TrustedProxies } from "./forwarded.ts";
import { authorityOf } from "./request_targets.ts";

/** An IPv4 address of loopback in the form that browsers give it in IPv6. */
const MAPPED_LOOPBACK = /^::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}$/;

/** What a host name consists of. */
const HOST_NAME = /^[a-z0-9._-]{1,253}$/;

/**
 * The name in an authority such as `Localhost.:8080`: in lower case, without its port, brackets and
 * last dot. "" if there is none.
 */
export function hostNameOf(authority: string): string {
  const hostname = URL.parse(`http://${authority}/`)?.hostname ?? "";
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/**
 * Whether a name leads to this machine alone: an address of loopback, `localhost`, or a name below
 * `.localhost` (RFC 6761, section 6.3).
 *
 * @param name as {@linkcode hostNameOf} returns it
 */
export function isMachineName(name: string): boolean {
  return isLoopback(name) || name.endsWith(".localhost") || MAPPED_LOOPBACK.test(name);
}

/** Hosts of a listener that answers under every name. */
export const ANY_HOST: Pick<Hosts, "refusal"> = Object.freeze({ refusal: () => null });

/**
 * The names under which a listener answers. A web page can point its own host name at this machine
 * (DNS rebinding), and is then of the same origin as a server that answers to any name. So one that
 * listens on loopback alone answers only to names of this machine and to those that the operator
 * gives it. Elsewhere it answers to any, and so it does to a trusted proxy, which has checked the
 * name.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  readonly #proxies: TrustedProxies;
  readonly #isBound: boolean;
  /** The last authority and `Host` header that were accepted: nearly all requests have the same. */
  #accepted: { readonly authority: string; readonly host: string | null } | null = null;

  /** @param listens the configured address of the listener */
  constructor(
    config: Pick<Config, "public_hosts" | "trusted_proxies">,
    listens: string,
  ) {
    this.#names = new Set(config.public_hosts.map(hostNameOf));
    this.#proxies = new TrustedProxies(config.trusted_proxies);
    this.#isBound = isLoopback(parseAddress(listens)?.hostname ?? "");
  }

  /**
   * Why a request is refused; null if it is not. Both names count where a client sends a whole URL
   * as the target and another name in `Host`.
   *
   * @param socket the address of the socket
   */
  refusal(request: Pick<Request, "url" | "headers">, socket: string): string | null {
    if (!this.#isBound || this.#proxies.includes(socket)) return null;
    const host = request.headers.get("host");
    const authority = authorityOf(request);
    if (this.#accepted?.authority === authority && this.#accepted.host === host) return null;
    for (const one of [authority, host || authority]) {
      const name = hostNameOf(one);
      if (!isMachineName(name) && !this.#names.has(name)) return refused(name);
    }
    this.#accepted = { authority, host };
    return null;
  }
}

function refused(name: string): string {
  const called = HOST_NAME.test(name) ? `the name "${name}"` : "this name";
  return `This server listens on its own machine alone, and does not go by ${called}: ` +
    "add the name to public_hosts, or a reverse proxy that uses it to trusted_proxies";
}
