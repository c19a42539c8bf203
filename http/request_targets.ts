/** Most origins remembered; a server has few names. */
const REMEMBERED = 64;

/** The form of a `Host` header (RFC 9110, section 7.2): a name or an address, and a port. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/**
 * Checks that a request has a valid URL. The runtime concatenates the `Host` header and the target
 * without parsing them: a host of `a/b` would become part of the path.
 */
export class RequestTargets {
  readonly #origins = new Set<string>();

  isValid(request: Request): boolean {
    const host = request.headers.get("host");
    return (host === null || HOST.test(host)) && this.#isUrl(request.url);
  }

  /** Only the origin can make it invalid, so the rest need not be parsed. */
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
