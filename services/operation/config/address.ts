/** A host and a port to listen on or to connect to. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
}

/**
 * Parses `host:port`, `[v6]:port` or `:port`; an empty host means every interface.
 *
 * @param text the address as written in the configuration
 * @returns the parts, or null if the text is not an address
 */
export function parseAddress(text: string): Address | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null) return null;
  const port = Number(match[3]);
  if (port > 65_535) return null;
  const hostname = match[1] ?? match[2] ?? "";
  return { hostname: hostname === "" ? "0.0.0.0" : hostname, port };
}

/** Formats an address. The inverse of {@link parseAddress}. */
export function formatAddress({ hostname, port }: Address): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** The URL of an address; an address for all interfaces becomes this machine's. */
export function urlOf(scheme: string, { hostname, port }: Address): string {
  const everywhere = hostname === "0.0.0.0" || hostname === "::";
  return `${scheme}://${formatAddress({ hostname: everywhere ? "127.0.0.1" : hostname, port })}`;
}

/** Explains in one sentence why an address cannot be listened on. */
export function explainListenError(address: Address, error: unknown): string {
  const where = formatAddress(address);
  if (error instanceof Deno.errors.AddrInUse) {
    return `The address ${where} is in use by another program`;
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return `Listening on ${where} needs more rights than this user has`;
  }
  return `This machine cannot listen on ${where}`;
}

/** How a console's nick ends: see {@linkcode consoleNickOf}. */
export const CONSOLE = "-console";

/** The keys that give a server's connections to IRC their nicks. */
interface NamedBridge {
  readonly node: { readonly name: string };
  readonly bridge: { readonly nick: string };
}

/** The nick of a server's bridge: each node has its own. */
export function bridgeNickOf({ node: { name }, bridge: { nick } }: NamedBridge): string {
  return name === "" ? nick : `${nick}-${name}`;
}

/** The nick of a server's connection to the services of an IRC network. */
export function consoleNickOf(config: NamedBridge): string {
  return bridgeNickOf(config) + CONSOLE;
}

/** Whether a text names a database of PostgreSQL. */
export function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && url.pathname.length > 1;
}
