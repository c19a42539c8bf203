/** The place that a request was sent to. */
export interface Target {
  /** As a text. */
  readonly url: string;
  readonly pathname: string;
  /** The name and port of the `Host` header. */
  readonly host: string;
}

/** Parses the URL of a request. */
export function targetOf(url: string): Target {
  const { pathname, host } = new URL(url);
  return { url, pathname, host };
}

/**
 * Detects requests from foreign web pages. A browser sends the page's origin in every POST; a page
 * of this server's own host has the same origin. Programs other than browsers send no `Origin`.
 *
 * @param origin the `Origin` header; null if absent
 * @param origins other origins whose pages may call; `*` means every one
 * @returns why the request is refused, or null if it is not
 */
export function foreignOrigin(
  { host }: Target,
  origin: string | null,
  origins: readonly string[],
): string | null {
  if (origin === null || URL.parse(origin)?.host === host) return null;
  if (origins.includes("*") || origins.includes(origin)) return null;
  return `A web page of the origin "${origin}" may not call this server`;
}
