/** Agents without a socket on a real IRC server with a real bridge, all in memory. */
import { DirectMessages, Inboxes, InboxStore } from "../../../services/inboxes/mod.ts";
import { VirtualUsers } from "../../../services/irc_server/virtual_users/mod.ts";
import { Bridge } from "../../../services/bridge/mod.ts";
import type { Caller } from "../../../services/identity/mod.ts";
import { IrcServer } from "../../../services/irc/mod.ts";
import { silentLog } from "../../../services/log.ts";
import { anAgent, type TestServices, withServices } from "../../support/services.ts";
import { IrcUser } from "../bridge/support.ts";

/** What a test gets. */
export interface World {
  readonly services: TestServices;
  readonly server: IrcServer;
  readonly bridge: Bridge;
  readonly virtualUsers: VirtualUsers;
  readonly inboxes: Inboxes;
  readonly directMessages: DirectMessages;
  /** Registers an agent and gives its passphrase. */
  register(nick: string, more?: { type?: string; channels?: string[] }): Promise<string>;
  /** Has an agent call with its own credential. */
  call(nick: string, passphrase: string): Promise<Caller>;
}

/** Runs a test in a world of its own, in which the bridge is up. */
export async function withAttendance(run: (world: World) => Promise<void>): Promise<void> {
  await withServices(async (services) => {
    const { agents, authority, clock: scheduler, identity, sessions } = services;
    const { roster, sendLimits } = agents;
    const server: IrcServer = new IrcServer({
      ...{ serverName: "irc.test", networkName: "test", serverDescription: "test" },
      requireAccount: false,
      accounts: authority,
      clock: scheduler.read,
      limits: { strangerRate: null, accountRate: null },
      observer: {
        sessionEnded: ({ account }) => virtualUsers.sessionEnded(account),
        accessChanged: ({ channel }) => virtualUsers.accessChanged(channel),
        messageSent(message) {
          if (message.sender.account !== null) sendLimits.sent(message.sender.account);
          inboxes.take(message);
        },
        messageRedacted: ({ id }) => inboxes.forgetMessage(id),
      },
    });
    const [log, bridgeNick] = [silentLog, "bridge"];
    const virtualUsers = new VirtualUsers({
      identity,
      roster,
      sendLimits,
      users: server,
      scheduler,
      log,
    });
    const hears = virtualUsers.hears.bind(virtualUsers);
    const store = new InboxStore({ database: services.database, age: null, scheduler, log });
    const inboxes = new Inboxes({ identity, roster, hears, bridgeNick, store, scheduler, log });
    const bridge = new Bridge({
      ...{
        nick: bridgeNick,
        channels: ["general"],
        bufferSize: 50,
        maxChannels: 20,
        maxChannelsPerAgent: 5,
      },
      webUserTtlMilliseconds: () => 300_000,
      hasChannel: (channel) => server.hasChannel(channel),
      connect: () => server.connect({ account: bridgeNick, privileged: true }),
      onPosted: (channel, message) => inboxes.takePosted(channel, message),
      ...{ scheduler, log, speakers: virtualUsers },
    });
    const directMessages = new DirectMessages({
      ...{
        roster,
        sendLimits,
        accounts: services.accounts,
        virtualUsers,
        inboxes,
        bridge,
        bridgeNick,
        log,
      },
      isOnline: (account) => server.isOnline(account),
    });
    sessions.disconnectAccount = (account, reason) => server.disconnectAccount(account, reason);
    sessions.isOnline = (account) => server.isOnline(account);
    bridge.start();
    try {
      await bridge.whenReady();
      await run({
        ...{ services, server, bridge, virtualUsers, inboxes, directMessages },
        register: (nick, more) => anAgent(services, nick, more),
        async call(name, password) {
          const principal = await identity.authenticate({ kind: "basic", name, password }, "::1");
          return { principal, address: "::1", requestId: null };
        },
      });
    } finally {
      await bridge.stop();
      await inboxes.stop();
      virtualUsers.close();
      await server.close();
    }
  });
}

/** Somebody with an IRC client in #general; what joining said is read already. */
export async function aWatcher(
  { server }: World,
  capabilities = "",
  nick = "eve",
): Promise<IrcUser> {
  const user = new IrcUser(server, nick, capabilities);
  await user.join("#general");
  return user;
}

/** Logs an agent in to IRC, and into #general. */
export async function aSession({ server }: World, nick: string, password: string) {
  const session = new IrcUser(server, nick, "sasl", password);
  await session.join("#general");
  return session;
}
