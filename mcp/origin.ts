import { isLoopback } from "../services/irc/mod.ts";

/**
 * Detects requests from foreign web pages. A browser sends the page's origin in every POST; a page
 * of this server's own host has the same origin. Because a page can point its own host name at this
 * machine (DNS rebinding), a server on loopback accepts only this machine's names. Programs other
 * than browsers send no `Origin`, and use the name that they connect to.
 *
 * @param url of the request, with the host of the `Host` header
 * @param origin the `Origin` header; null if absent
 * @param loopbackOnly whether to accept only this machine's names: the server is bound to loopback,
 * and no trusted proxy forwarded the request
 * @returns why the request is refused, or null if it is not
 */
export function foreignOrigin(
  { host, hostname }: URL,
  origin: string | null,
  loopbackOnly: boolean,
): string | null {
  if (loopbackOnly && !isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"))) {
    return `This server goes by no name "${hostname}"; a reverse proxy that uses it must be among ` +
      "trusted_proxies";
  }
  if (origin === null || URL.parse(origin)?.host === host) return null;
  return `A web page of the origin "${origin}" may not call this server`;
}
