import type { Context } from "hono";
import { hostNameOf, isMachineName } from "../../http/mod.ts";
import { type Config, parseAddress } from "../../services/operation/config/mod.ts";
import { isLoopback } from "../../services/engines/irc/mod.ts";
import type { AppEnv } from "../environment.ts";

/** Names that a browser on this machine may use as well: they stand for every address. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Where the pages are on this machine. */
export interface PagesPlace {
  /** The host of the pages for browsers on this machine; null if they may use any of its names. */
  readonly pagesHost: string | null;
}

/**
 * Where a browser finds the pages, such as `http://muster-k3x9q2ab.localhost:8080`, if it came under
 * a name that this program shares with others: cookies ignore ports, so every program on this
 * machine gets those of `127.0.0.1`. Null if the pages are where it came. The port stays that of the
 * request, which a tunnel may have changed.
 */
export function pagesElsewhere(
  { req, env, var: { isProxied } }: Context<AppEnv>,
  { pagesHost }: PagesPlace,
): string | null {
  if (pagesHost === null || isProxied || env.mark) return null;
  const { protocol, host, port } = new URL(req.url);
  const name = hostNameOf(host);
  const isShared = name !== pagesHost && (isMachineName(name) || EVERY_ADDRESS.has(name));
  return isShared ? `${protocol}//${pagesHost}${port === "" ? "" : `:${port}`}` : null;
}

/**
 * Whether a request comes from a page or the address bar of a browser (W3C Fetch Metadata). Node's
 * `fetch` says `cors` too, but not from which site.
 */
export function isFromBrowser({ req }: Context<AppEnv>): boolean {
  const mode = req.header("sec-fetch-mode");
  return mode !== undefined && (mode !== "cors" || req.header("sec-fetch-site") !== undefined);
}

/** Whether a browser may not use its session where it came. */
export function isAstray(context: Context<AppEnv>, place: PagesPlace): boolean {
  return isFromBrowser(context) && pagesElsewhere(context, place) !== null;
}

/** The address of the login, which then leads to a path. */
export function loginAt(base: string, next: string): string {
  return next === "/" ? `${base}/login` : `${base}/login?next=${encodeURIComponent(next)}`;
}

/**
 * The address of this server for programs, such as `https://muster.example`. On the host of the
 * pages it is another one: agents are not told that, and not every program resolves it.
 */
export function addressForPrograms(
  { req, var: { secure } }: Context<AppEnv>,
  { pagesHost, config }: PagesPlace & { readonly config: Pick<Config, "api_addr"> },
): string {
  const { protocol, host, port } = new URL(req.url);
  const scheme = secure ? "https:" : protocol;
  if (hostNameOf(host) !== pagesHost) return `${scheme}//${host}`;
  const { hostname = "" } = parseAddress(config.api_addr) ?? {};
  const name = isLoopback(hostname) ? hostname : "127.0.0.1";
  return `${scheme}//${name.includes(":") ? `[${name}]` : name}${port === "" ? "" : `:${port}`}`;
}
