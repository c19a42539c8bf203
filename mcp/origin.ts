import { isLoopback } from "../services/irc/mod.ts";

/**
 * Tells whether a request comes from a web page that has no business here. A browser names the
 * page's origin in every POST; a page of our own host is none of another origin. As a page can also
 * have its own host name point to this machine (DNS rebinding), a server that only this machine
 * reaches takes no other name than this machine's. Programs that are no browser send no `Origin`
 * and call the host by the name they connect to.
 *
 * @param url of the request, with the host of the `Host` header
 * @param origin the `Origin` header; null where there is none
 * @param loopbackOnly whether only a name of this machine can be right: the server is bound to
 *   loopback, and no trusted proxy passed the request on
 * @returns why the request is refused, or null where it is not
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
