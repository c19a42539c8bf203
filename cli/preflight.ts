/** The checks of a start, before it changes anything. */
import {
  type Address,
  type Config,
  explainListenError,
  formatAddress,
  parseAddress,
} from "../services/operation/config/mod.ts";
import { isLoopback } from "../services/engines/irc/mod.ts";
import { filesLeft } from "../services/kernel/worker_pool.ts";
import { CommandFailed } from "./output.ts";

/** An address to listen on, and its configuration key. */
export interface Listener {
  readonly key: string;
  readonly address: Address;
}

/** Something that keeps the server from starting. */
export interface Problem {
  readonly message: string;
  /** 2 for an invalid configuration, 1 for a problem of this machine. */
  readonly exitCode: 1 | 2;
}

/** A problem of an address, and what to do about it. */
export interface ListenProblem extends Problem {
  readonly fix: string;
}

/** A warning for the operator. */
export interface Warning {
  readonly message: string;
  /** The configuration key. */
  readonly key: string;
  /** What to do about it. */
  readonly fix: string;
}

/** Fewest files that a start needs to open, with room for a few connections. */
const LEAST_FILES = 160;

/**
 * Checks that the process may open enough files. Without them, a start would fail at any moment, in a
 * worker as well.
 *
 * @throws CommandFailed
 */
export function requireDescriptors(): void {
  const left = filesLeft(LEAST_FILES);
  if (left === LEAST_FILES) return;
  throw new CommandFailed(
    `muster needs to open at least ${LEAST_FILES} files, and this process may open only ` +
      `${left} more: raise the limit, for example with "ulimit -n 1024"`,
  );
}

/** Every address that the configuration has the server listen on. */
export function listenersOf({ api_addr, mcp_addr, irc }: Config): Listener[] {
  const keys: readonly (readonly [string, string])[] = [
    ["api_addr", api_addr],
    ["mcp_addr", mcp_addr],
    ...irc.mode === "embedded"
      ? [
        ["irc.listen", irc.listen],
        ["irc.tls_listen", irc.tls_listen],
        ["irc.websocket_listen", irc.websocket_listen],
        ["irc.websocket_tls_listen", irc.websocket_tls_listen],
      ] as const
      : [],
  ];
  return keys.filter(([, text]) => text !== "")
    .map(([key, text]) => ({ key, address: requireAddress(text) }));
}

/**
 * Finds addresses that collide with each other, or on which the server cannot listen.
 *
 * @param isOurs whether an address in use belongs to the muster whose configuration this is
 */
export function findListenProblems(
  listeners: readonly Listener[],
  isOurs: (address: Address) => boolean = () => false,
): ListenProblem[] {
  const problems: ListenProblem[] = [];
  const seen: Listener[] = [];
  using held = new DisposableStack();
  for (const listener of listeners) {
    const { key, address } = listener;
    const rival = seen.find((other) => collide(other.address, address));
    seen.push(listener);
    if (rival !== undefined) {
      const message = `${rival.key} and ${key} collide: both want ${formatAddress(address)}`;
      problems.push({ message, exitCode: 2, fix: "give each key a port of its own" });
      continue;
    }
    try {
      const opened = Deno.listen(address);
      held.defer(() => opened.close());
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse && isOurs(address)) continue;
      const message = `${explainListenError(address, error)}: change ${key}`;
      problems.push({ message, exitCode: 1, fix: fixOfListening(error) });
    }
  }
  return problems;
}

function fixOfListening(error: unknown): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return "if the key is right, end the program that uses the address (ss -ltnp shows it)";
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return "take a port from 1024 on, or let the service bind lower ones " +
      "(AmbientCapabilities=CAP_NET_BIND_SERVICE)";
  }
  return "name an address of this machine (ip addr shows them)";
}

/**
 * Whether two sockets cannot both have these addresses; `::` stands for every address, IPv4 or
 * IPv6.
 */
function collide(a: Address, b: Address): boolean {
  if (a.port === 0 || a.port !== b.port) return false;
  const [first, second] = [a, b].map(({ hostname }) =>
    hostname === "localhost" ? "127.0.0.1" : hostname.toLowerCase()
  ) as [string, string];
  const covers = (host: string, other: string) =>
    host === other || host === "::" || (host === "0.0.0.0" && !other.includes(":"));
  return covers(first, second) || covers(second, first);
}

/** Finds connections on which passwords and tokens would cross a network in clear text. */
export function findClearText(config: Config): Warning[] {
  const { tls, trusted_proxies, irc } = config;
  const warnings = irc.mode === "external" ? findClearNetwork(config) : [];
  if (tls.cert !== "" || trusted_proxies.length > 0) return warnings;
  const open = listenersOf(config).filter(({ address }) =>
    address.hostname !== "localhost" && !isLoopback(address.hostname)
  );
  const message = "Passwords and tokens travel in the clear: no TLS, no trusted proxy";
  const fix = "set tls.cert and tls.key, or trusted_proxies behind a proxy with TLS";
  return [...warnings, ...open.map(({ key }) => ({ message, key, fix }))];
}

function findClearNetwork({ irc: { addr, tls, ergo } }: Config): Warning[] {
  const paths = [
    ["irc.addr", tls.enabled ? null : addr, "set irc.tls.enabled, and irc.addr to a port with TLS"],
    [
      "irc.ergo.api_addr",
      ergo.api_addr.replace(/^http:\/\/|\/$/g, ""),
      "let Ergo's API listen with TLS, and name it with https://",
    ],
  ] as const;
  return paths.flatMap(([key, text, fix]) => {
    const hostname = parseAddress(text ?? "")?.hostname;
    if (hostname === undefined || hostname === "localhost" || isLoopback(hostname)) return [];
    return [{ message: "Passwords travel to the IRC network in the clear: no TLS", key, fix }];
  });
}

/** Parses an address that the configuration's schema has already checked. */
export function requireAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new CommandFailed(`"${text}" is not an address`, 2);
  return address;
}
