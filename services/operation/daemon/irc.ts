import { AccountAuthority, SelfRegistration } from "../../chat/irc_server/mod.ts";
import { BRIDGE_TAGS, readableEnvelope } from "../../chat/bridge/mod.ts";
import type { Config } from "../config/mod.ts";
import { channelName, foldCase, IrcServer, type IrcServerOptions } from "../../engines/irc/mod.ts";
import { IrcBans } from "../../chat/irc_server/bans/mod.ts";
import { Mutes } from "../../chat/irc_server/mutes/mod.ts";
import {
  addIrcServices,
  ChannelStore,
  RegisteredChannels,
  UnregisteredChannels,
} from "../../chat/irc_server/services/mod.ts";
import { ReadMarkers } from "../../chat/irc_server/mod.ts";
import { VERSION } from "../../kernel/version.ts";
import type { DaemonOptions } from "./options.ts";
import type { AgentDirectory, People } from "./people.ts";
import type { Stores } from "./stores.ts";

/** The embedded IRC server and what it was built from. */
export interface EmbeddedIrc {
  readonly server: IrcServer;
  readonly bans: IrcBans;
  readonly mutes: Mutes;
  readonly authority: AccountAuthority;
  readonly channels: RegisteredChannels;
  readonly unregistered: UnregisteredChannels;
}

/** Builds the IRC server. It listens nowhere yet, has no services and no observer. */
export async function openIrc(
  { onExhausted }: Pick<DaemonOptions, "onExhausted">,
  stores: Stores,
  { roster, sendLimits }: AgentDirectory,
): Promise<EmbeddedIrc> {
  const { config, database, scheduler, log, cloakKey, identity: { accounts, logins } } = stores;
  const { per_account: perAccount, access_entries: accessEntries } = config.irc.channels;
  const storing = { database, accounts, scheduler, log, secret: cloakKey };
  const channels = await RegisteredChannels.open({ ...storing, perAccount, accessEntries });
  const bans = await IrcBans.open({ database, accounts, clock: scheduler.now });
  const authority = new AccountAuthority({
    accounts,
    logins,
    channels,
    roster,
    sendLimits,
    configured: config.bridge.channels.map((name) => channelName(name) ?? name),
    operators: config.irc.operators,
  });
  const unregistered = await UnregisteredChannels.open({
    ...storing,
    owns: (channel) => authority.ownsChannel(channel),
    onForgotten: (channel) => stores.history?.confine({ account: null, name: foldCase(channel) }),
  });
  const server = new IrcServer({
    ...await serverOptions(stores),
    ...(onExhausted === undefined ? {} : { onExhausted }),
    accounts: authority,
    bans,
    channels: new ChannelStore(channels, unregistered),
  });
  bans.enforceOn(server);
  const mutes = await Mutes.open({ database, accounts, scheduler, log });
  server.setGuard(mutes);
  return { server, bans, mutes, authority, channels, unregistered };
}

/**
 * Attaches the parts that depend on the IRC server: the observer, NickServ, ChanServ, registration.
 */
export function attachPeople(
  { server, authority, channels }: EmbeddedIrc,
  { config, identity: { accounts, logins }, space, scheduler }: Stores,
  { ircAccounts, observer, virtualUsers }: People,
): void {
  server.attach(observer);
  const { messages, persist } = config.irc.history;
  authority.absentUser = (nick) => virtualUsers.absent(nick, persist || messages > 0);
  authority.staying = (account) => virtualUsers.staying(account);
  const { self_registration: allowed, registrations_per_hour: perHour } = config.irc.accounts;
  if (allowed !== false) {
    const clock = scheduler.now;
    authority.allowRegistration(
      new SelfRegistration({ accounts, ircAccounts, perHour, space, clock }),
    );
  }
  addIrcServices({
    server,
    accounts,
    logins,
    channels,
    ircAccounts,
    selfRegistration: allowed !== false,
    registryStatus: authority.registryStatus.bind(authority),
  });
}

async function serverOptions(
  { config, database, log, scheduler, identity: { accounts }, cloakKey, history }: Stores,
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
    readable: readableEnvelope,
    registerBeforeConnect: irc.accounts.self_registration === true,
    readMarkers: await ReadMarkers.open({ database, accounts, log }),
    cloakKey,
    log,
    clock: scheduler.now,
    ...(history === null ? {} : { historyStore: history }),
  };
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
