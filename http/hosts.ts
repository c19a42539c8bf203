import { type Config, parseAddress } from "../services/operation/config/mod.ts";
import { isLoopback } from "../services/engines/irc/mod.ts";
import { TrustedProxies } from "./forwarded.ts";

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

/** The form of a `Host` header (RFC 9110, section 7.2): a name or an address, and a port. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/** Longest URL, in characters: twice a path of the greatest length in percent-encoding fits. */
export const MAX_URL_LENGTH = 32_768;

/** The target of a request: its path with its query, as it came. */
export function targetOf({ url }: Pick<Request, "url">): string {
  return url.slice(startOf(url));
}

/** Who a request is for: the name of the host that the client used, and its port. */
export function authorityOf({ url }: Pick<Request, "url">): string {
  const authority = url.slice(url.indexOf("://") + 3, startOf(url));
  return authority.slice(authority.lastIndexOf("@") + 1);
}

/** Where the path of a URL begins. */
function startOf(url: string): number {
  return url.indexOf("/", url.indexOf("://") + 3);
}

/** Most values of `Host` that are remembered. */
const MAX_HOSTS = 16;

/**
 * Checks that a request has a valid URL. The runtime concatenates the `Host` header and the target
 * without parsing them: a host of `a/b` would become part of the path.
 */
export class RequestTargets {
  /** The last valid values of `Host`, each with the beginning of its URLs: there are few. */
  readonly #starts = new Map<string | null, string>();
  /** The last one of them that was used: to compare a text costs less than to look it up. */
  #last: { readonly host: string | null; readonly start: string } | null = null;

  isValid(request: Request): boolean {
    const { url } = request;
    const host = request.headers.get("host");
    if (this.#last?.host === host && url.startsWith(this.#last.start)) return true;
    const start = this.#starts.get(host);
    if (start !== undefined && url.startsWith(start)) {
      this.#last = { host, start };
      return true;
    }
    if ((host !== null && !HOST.test(host)) || !URL.canParse(url)) return false;
    // Only the origin can make a URL invalid.
    if (this.#starts.size >= MAX_HOSTS) this.#starts.clear();
    this.#starts.set(host, url.slice(0, startOf(url) + 1));
    return true;
  }
}

/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE = 600;

/** Headers of resumable uploads (tus 1.0). */
const SENT_BY_UPLOADS = "Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset";
const EXPOSED_BY_UPLOADS = "Location, Tus-Resumable, Upload-Expires, Upload-Length, Upload-Offset";

/** Headers of every door, among them those of the Model Context Protocol and of Anthropic's API. */
const SENT =
  "Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range, User-Agent, " +
  "Muster-Generation, Muster-Cache-Key, X-Muster-Ticket, X-Api-Key, Anthropic-Version, Anthropic-Beta, " +
  `Mcp-Session-Id, MCP-Protocol-Version, ${SENT_BY_UPLOADS}`;
const EXPOSED = "Accept-Ranges, Content-Disposition, Content-Range, ETag, Mcp-Session-Id, " +
  "MCP-Protocol-Version, Muster-Gap, Muster-Session-Name, Retry-After, WWW-Authenticate, X-Checkin, " +
  `X-Muster-Warnings, X-Request-Id, X-Should-Retry, ${EXPOSED_BY_UPLOADS}`;

/** Headers that clients of models and of MCP add under names of their own; none has an effect. */
const OF_CLIENTS = /^(?:mcp|openai|anthropic|x-stainless)-[a-z0-9-]{1,64}$/i;

/** Most such headers that a preflight answer names. */
const MAX_OF_CLIENTS = 50;

/**
 * Lets web pages of other origins read an answer (Fetch standard, "CORS protocol"). They send a
 * token in a header; they cannot use the cookie of a login.
 *
 * @param headers of the answer
 * @param origins such as `https://example.com`; `*` means every one
 */
export function allowOrigins(
  headers: Headers,
  request: Request,
  origins: readonly string[],
): void {
  const everybody = origins.includes("*");
  if (!everybody) headers.append("Vary", "Origin");
  const origin = request.headers.get("origin");
  if (origin === null || !(everybody || origins.includes(origin))) return;
  headers.set("Access-Control-Allow-Origin", everybody ? "*" : origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED);
  if (request.method !== "OPTIONS") return;
  headers.set("Access-Control-Allow-Methods", headers.get("Allow") ?? "");
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const known = new Set(SENT.toLowerCase().split(", "));
  const added = asked.split(",").map((name) => name.trim())
    .filter((name) => OF_CLIENTS.test(name) && !known.has(name.toLowerCase()))
    .slice(0, MAX_OF_CLIENTS);
  headers.set("Access-Control-Allow-Headers", [SENT, ...added].join(", "));
  headers.set("Access-Control-Max-Age", String(MAX_AGE));
}
