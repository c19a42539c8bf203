import { AccountAuthority, SelfRegistration } from "../irc_server/mod.ts";
import { BRIDGE_TAGS } from "../bridge/mod.ts";
import {
  type Address,
  type Config,
  explainListenError,
  formatAddress,
  parseAddress,
} from "../config/mod.ts";
import { type Bans, channelName, IrcServer, type IrcServerOptions } from "../irc/mod.ts";
import { IrcBans } from "../irc_server/bans/mod.ts";
import { addIrcServices, RegisteredChannels } from "../irc_server/services/mod.ts";
import { ReadMarkers } from "../irc_server/mod.ts";
import { VERSION } from "../version.ts";
import { type DaemonOptions, StartError } from "./options.ts";
import type { IrcAddresses } from "./irc_host.ts";
import type { People } from "./people.ts";
import type { Stores } from "./stores.ts";

/** The embedded IRC server and its bans. */
export interface EmbeddedIrc {
  readonly server: IrcServer;
  readonly bans: IrcBans;
}

/** Makes the IRC server with the services on it; it listens nowhere yet. */
export async function openIrc(
  { onExhausted }: Pick<DaemonOptions, "onExhausted">,
  stores: Stores,
  people: People,
  started: AsyncDisposableStack,
): Promise<EmbeddedIrc> {
  const { config, database, scheduler, log, cloakKey, room: { accounts, logins } } = stores;
  const { per_account: perAccount, access_entries: accessEntries } = config.irc.channels;
  const channels = await RegisteredChannels.open({
    ...{ database, accounts, perAccount, accessEntries, scheduler, log },
    secret: cloakKey,
  });
  started.defer(() => channels.close());
  const enforce = (bans: Pick<Bans, "find">) => void server.enforceBans(bans);
  const bans = await IrcBans.open({ database, accounts, enforce, clock: scheduler.now });
  const authority = new AccountAuthority({
    ...{ accounts, logins, channels },
    roster: people.agents.roster,
    configured: config.bridge.channels.map((name) => channelName(name) ?? name),
    sendLimits: people.agents.sendLimits,
    operators: config.irc.operators,
    selfRegistration: openSelfRegistration(stores, people),
  });
  const server = new IrcServer({
    ...await serverOptions(stores, people),
    ...(onExhausted === undefined ? {} : { onExhausted }),
    ...{ accounts: authority, bans, channels },
  });
  started.defer(() => server.close());
  addIrcServices({
    ...{ server, accounts, logins, channels },
    ircAccounts: people.ircAccounts,
    selfRegistration: config.irc.accounts.self_registration !== false,
    registryStatus: authority.registryStatus.bind(authority),
  });
  return { server, bans };
}

async function serverOptions(
  { config, database, log, room: { accounts }, cloakKey, history }: Stores,
  { observer }: People,
): Promise<Omit<IrcServerOptions, "accounts">> {
  const { irc } = config;
  return {
    ...ircChanges(config),
    serverName: irc.server_name,
    serverDescription: irc.server_description,
    networkName: irc.network_name,
    version: `muster-${VERSION}`,
    password: irc.password === "" ? null : irc.password,
    requireAccount: irc.require_account,
    ...(irc.sts.enabled
      ? { sts: { durationSeconds: irc.sts.duration_seconds, port: irc.sts.port || null } }
      : {}),
    reservedTags: BRIDGE_TAGS,
    registerBeforeConnect: irc.accounts.self_registration === true,
    readMarkers: await ReadMarkers.open({ database, accounts, log }),
    ...{ observer, cloakKey, log },
    ...(history === null ? {} : { historyStore: history }),
  };
}

function openSelfRegistration(
  { config, room: { accounts }, scheduler }: Stores,
  { ircAccounts }: People,
): SelfRegistration | null {
  const { self_registration: allowed, registrations_per_hour: perHour } = config.irc.accounts;
  if (allowed === false) return null;
  return new SelfRegistration({ accounts, ircAccounts, perHour, clock: scheduler.now });
}

/** What can change while the IRC server runs. */
export function ircChanges({ irc }: Config): Pick<IrcServerOptions, "motd" | "limits"> {
  const { history, limits } = irc;
  const rate = (perSecond: number, burst: number) => perSecond === 0 ? null : { perSecond, burst };
  return {
    ...(irc.motd === "" ? {} : { motd: irc.motd }),
    limits: {
      lineBytes: limits.line_bytes,
      multilineBytes: limits.multiline_bytes,
      multilineLines: limits.multiline_lines,
      receiveQueueBytes: limits.recvq_bytes,
      sendQueueBytes: limits.sendq_bytes,
      strangerRate: rate(limits.flood_lines_per_second, limits.flood_burst),
      accountRate: rate(limits.account_lines_per_second, limits.account_burst),
      connections: limits.connections,
      connectionsPerAddress: limits.connections_per_address || null,
      connectsPerMinute: limits.connects_per_minute || null,
      registrationSeconds: limits.registration_seconds,
      historyMessages: history.messages,
      historyBytes: history.bytes,
      replayMessages: history.replay_on_join,
    },
  };
}

/**
 * Opens the listeners of the IRC server.
 *
 * @throws StartError where an address cannot be listened on
 */
export function listen(
  server: IrcServer,
  { config, certificate, clientAddress }: DaemonOptions,
): IrcAddresses {
  const open = (text: string, bind: (address: Address) => Deno.NetAddr): Address | null => {
    const address = parseAddress(text);
    if (address === null) return null;
    try {
      const { hostname, port } = bind(address);
      return { hostname, port };
    } catch (error) {
      throw new StartError(explainListenError(address, error));
    }
  };
  const { irc } = config;
  const tls = certificate === null ? {} : { tls: certificate };
  const proxied = { proxies: irc.proxy_protocol_from };
  const webSocket = {
    ...proxied,
    origins: config.cors.origins,
    addressOf: (socket: string, headers: Headers) =>
      clientAddress?.(socket, headers.get("x-forwarded-for")) ?? socket,
  };
  return {
    plain: open(irc.listen, (address) => server.listen({ ...address, ...proxied })),
    tls: open(irc.tls_listen, (address) => server.listen({ ...address, ...tls, ...proxied })),
    webSocket: open(
      irc.websocket_listen,
      (address) => server.listenWebSocket({ ...address, ...webSocket }),
    ),
    webSocketTls: open(
      irc.websocket_tls_listen,
      (address) => server.listenWebSocket({ ...address, ...webSocket, ...tls }),
    ),
  };
}

/** The address of the IRC server as agents are told it. */
export function ircUrl({ irc }: Config, { plain, tls }: IrcAddresses): string {
  const scheme = tls === null ? "irc" : "ircs";
  const told = parseAddress(irc.public_address);
  if (told !== null) return `${scheme}://${formatAddress(told)}`;
  const bound = tls ?? plain;
  if (bound === null) return "";
  const everywhere = bound.hostname === "0.0.0.0" || bound.hostname === "::";
  const hostname = everywhere ? Deno.hostname() : bound.hostname;
  return `${scheme}://${formatAddress({ hostname, port: bound.port })}`;
}
