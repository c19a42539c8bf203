/** Statistics of a running server, and its list of clients, for administrators. */

import type { RefusalKind } from "./admission/admission.ts";
import { UserMode } from "./channels/modes.ts";
import type { ServerState } from "./state.ts";
import type { TransportKind } from "./transport/transport.ts";
import type { Client } from "./members.ts";

/** Figures of a running server. */
export interface IrcStats {
  /** Connections, registered or not. */
  clients: number;
  /** Users, those without a connection included. */
  registered: number;
  /** Users without a connection. */
  virtual: number;
  channels: number;
  /** Messages received, and messages queued to clients, since the start. */
  messagesIn: number;
  messagesOut: number;
  /** Connections by their transport. */
  transports: ReadonlyMap<TransportKind, number>;
  /** Refused connections since the start, by reason. */
  refused: Readonly<Record<RefusalKind, number>>;
  /** Unregistered connections that were closed to make room for others. */
  displaced: number;
  /** Failures to accept a connection. */
  acceptFailures: number;
  /** Clients in a TLS handshake; the other figures do not count them. */
  handshakes: number;
  /** Clients that a ban disconnected or kept out. */
  banHits: number;
  /** Clients disconnected because they sent too much or read too little. */
  floodCuts: number;
  sendQueueCuts: number;
}

/** A client with a connection, as an administrator sees it. */
export interface ConnectedClient {
  /** Null until it is registered. */
  readonly nick: string | null;
  readonly account: string | null;
  readonly address: string;
  /** The host that others see; empty until it is registered. */
  readonly host: string;
  readonly transport: TransportKind;
  /** Unix milliseconds. */
  readonly connectedAt: number;
  /** Unix milliseconds of the last line, except for signs of life such as PONG. */
  readonly lastActiveAt: number;
  /** Whether it is an IRC operator. */
  readonly operator: boolean;
  /** The number of its channels. */
  readonly channels: number;
  /** Bytes that wait to be sent to it. */
  readonly queuedBytes: number;
}

/** A user of the server, with or without a connection, as the program sees it. */
export interface PresentUser {
  readonly nick: string;
  readonly account: string | null;
  readonly address: string;
  /** Whether it is an IRC operator. */
  readonly isOperator: boolean;
  /** Whether it belongs to the program, above all modes. */
  readonly isPrivileged: boolean;
  /** Whether it says that it is a program. */
  readonly isBot: boolean;
  readonly isAway: boolean;
}

/** A client as the program sees it. */
export function presentUser(client: Client): PresentUser {
  const { nick, account, transport: { address }, isOperator, privileged, away } = client;
  const isBot = client.hasMode(UserMode.BOT);
  return {
    nick,
    account,
    address,
    isOperator,
    isPrivileged: privileged,
    isBot,
    isAway: away !== null,
  };
}

/** The figures of a server. */
export function statsOf(
  state: ServerState,
  { refused, acceptFailures, handshakes }: Pick<
    IrcStats,
    "refused" | "acceptFailures" | "handshakes"
  >,
): IrcStats {
  const { clients, counters, registeredCount, channels } = state;
  const transports = new Map<TransportKind, number>();
  let virtual = 0;
  for (const client of clients) {
    const { kind } = client.transport;
    if (client.virtual) virtual++;
    else transports.set(kind, (transports.get(kind) ?? 0) + 1);
  }
  const { linesIn, linesOut, displaced, banHits, floodCuts, sendQueueCuts } = counters;
  return {
    clients: clients.size - virtual,
    virtual,
    registered: registeredCount,
    channels: channels.size,
    messagesIn: linesIn,
    messagesOut: linesOut,
    transports,
    refused: { ...refused },
    acceptFailures,
    handshakes,
    displaced,
    banHits,
    floodCuts,
    sendQueueCuts,
  };
}

/** Everybody with a connection, in the order of connecting. */
export function connectedClients({ clients }: ServerState): ConnectedClient[] {
  const connected: ConnectedClient[] = [];
  for (const client of clients) {
    if (client.virtual) continue;
    const { registered, nick, account, host, transport, connectedAt, lastActiveAt } = client;
    connected.push({
      nick: registered ? nick : null,
      account,
      host,
      connectedAt,
      lastActiveAt,
      address: transport.address,
      transport: transport.kind,
      operator: client.isOperator,
      channels: client.channels.length,
      queuedBytes: transport.queuedBytes,
    });
  }
  return connected;
}
