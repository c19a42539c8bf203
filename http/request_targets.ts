/** Origins that are remembered; a server has few names. */
const REMEMBERED = 64;

/** What a `Host` header may hold (RFC 9110, section 7.2): a name or an address, and a port. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/**
 * Tells whether a request names something that can be its URL. The runtime puts the URL together from
 * the `Host` header and the target, and parses neither: a host of `a/b` would become part of the path.
 */
export class RequestTargets {
  readonly #origins = new Set<string>();

  isValid(request: Request): boolean {
    const host = request.headers.get("host");
    return (host === null || HOST.test(host)) && this.#isUrl(request.url);
  }

  /** The origin alone decides whether it is one, so that the rest need not be parsed. */
  #isUrl(url: string): boolean {
    const end = url.indexOf("/", url.indexOf("://") + 3);
    const origin = end < 0 ? url : url.slice(0, end);
    if (this.#origins.has(origin)) return true;
    if (!URL.canParse(url)) return false;
    if (this.#origins.size >= REMEMBERED) this.#origins.clear();
    this.#origins.add(origin);
    return true;
  }
}
