import { isLoopback } from "../services/irc/mod.ts";

/** The place that a request was sent to. */
export interface Target {
  /** As a text. */
  readonly url: string;
  readonly pathname: string;
  /** The name and port of the `Host` header. */
  readonly host: string;
  readonly hostname: string;
  /** Whether that is a name of this machine alone. */
  readonly isLoopback: boolean;
}

/** Parses the URL of a request. */
export function targetOf(url: string): Target {
  const { pathname, host, hostname } = new URL(url);
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  return { url, pathname, host, hostname, isLoopback: isLoopback(name) };
}

/**
 * Detects requests from foreign web pages. A browser sends the page's origin in every POST; a page
 * of this server's own host has the same origin. Because a page can point its own host name at this
 * machine (DNS rebinding), a server on loopback accepts only this machine's names. Programs other
 * than browsers send no `Origin`, and use the name that they connect to.
 *
 * @param origin the `Origin` header; null if absent
 * @param accepted.origins other origins whose pages may call; `*` means every one
 * @param accepted.loopbackOnly whether to accept only this machine's names: the server is bound to loopback,
 * and no trusted proxy forwarded the request
 * @returns why the request is refused, or null if it is not
 */
export function foreignOrigin(
  target: Target,
  origin: string | null,
  { loopbackOnly, origins }: {
    readonly loopbackOnly: boolean;
    readonly origins: readonly string[];
  },
): string | null {
  if (loopbackOnly && !target.isLoopback) {
    return `This server goes by no name "${target.hostname}"; a reverse proxy that uses it must be among ` +
      "trusted_proxies";
  }
  if (origin === null || URL.parse(origin)?.host === target.host) return null;
  if (origins.includes("*") || origins.includes(origin)) return null;
  return `A web page of the origin "${origin}" may not call this server`;
}
