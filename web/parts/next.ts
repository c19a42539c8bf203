import type { Visit } from "../visit.ts";

/**
 * The page to which a form leads, from its field `next` or else the query: a path of this server,
 * and never another site. A path that begins with two slashes names a host, and `/.//host` becomes
 * one when it is resolved.
 */
export function nextOf(visit: Visit, otherwise = "/"): string {
  const next = visit.form.get("next") ?? visit.query("next") ?? otherwise;
  const url = URL.parse(String(next), visit.url);
  const isHere = url !== null && url.origin === visit.url.origin && String(next).startsWith("/") &&
    !url.pathname.startsWith("//");
  return isHere ? url.pathname + url.search : otherwise;
}
