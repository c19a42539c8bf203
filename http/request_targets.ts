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
