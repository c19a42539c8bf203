import { type Address, explainListenError, formatAddress, parseAddress } from "../config/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import { type DaemonOptions, StartError } from "./options.ts";

/** The addresses on which IRC listens; null for those that are not configured. */
export interface IrcAddresses {
  readonly plain: Address | null;
  readonly tls: Address | null;
  readonly webSocket: Address | null;
  readonly webSocketTls: Address | null;
}

/** No addresses. */
export const NO_IRC_ADDRESSES: IrcAddresses = Object.freeze({
  plain: null,
  tls: null,
  webSocket: null,
  webSocketTls: null,
});

/** The ports of this program's IRC server; none before {@link IrcListeners.open}. */
export class IrcListeners {
  readonly server: IrcServer;
  readonly #options: DaemonOptions;
  #addresses = NO_IRC_ADDRESSES;

  constructor(server: IrcServer, options: DaemonOptions) {
    this.server = server;
    this.#options = options;
  }

  /** The address of the IRC server, for agents; empty if it listens nowhere. */
  get url(): string {
    const { plain, tls } = this.#addresses;
    const scheme = tls === null ? "irc" : "ircs";
    const told = parseAddress(this.#options.config.irc.public_address);
    if (told !== null) return `${scheme}://${formatAddress(told)}`;
    const bound = tls ?? plain;
    if (bound === null) return "";
    const everywhere = bound.hostname === "0.0.0.0" || bound.hostname === "::";
    const hostname = everywhere ? Deno.hostname() : bound.hostname;
    return `${scheme}://${formatAddress({ hostname, port: bound.port })}`;
  }

  /**
   * Begins to listen.
   *
   * @returns the addresses, with the ports that the system chose
   * @throws StartError if an address cannot be listened on
   */
  open(): IrcAddresses {
    const { config: { irc, cors }, certificate, clientAddress, foreignHost } = this.#options;
    const server = this.server;
    const tls = certificate === null ? {} : { tls: certificate };
    const proxied = { proxies: irc.proxy_protocol_from };
    const webSocket = (listens: string) => ({
      ...proxied,
      ...foreignHost === undefined ? {} : { isForeign: foreignHost(listens) },
      origins: cors.origins,
      addressOf: (socket: string, headers: Headers) =>
        clientAddress?.(socket, headers.get("x-forwarded-for")) ?? socket,
    });
    this.#addresses = {
      plain: bind(irc.listen, (address) => server.listen({ ...address, ...proxied })),
      tls: bind(irc.tls_listen, (address) => server.listen({ ...address, ...tls, ...proxied })),
      webSocket: bind(
        irc.websocket_listen,
        (address) => server.listenWebSocket({ ...address, ...webSocket(irc.websocket_listen) }),
      ),
      webSocketTls: bind(
        irc.websocket_tls_listen,
        (address) =>
          server.listenWebSocket({ ...address, ...webSocket(irc.websocket_tls_listen), ...tls }),
      ),
    };
    return this.#addresses;
  }
}

function bind(text: string, listen: (address: Address) => Deno.NetAddr): Address | null {
  const address = parseAddress(text);
  if (address === null) return null;
  try {
    const { hostname, port } = listen(address);
    return { hostname, port };
  } catch (error) {
    throw new StartError(explainListenError(address, error));
  }
}
