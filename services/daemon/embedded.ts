import { EmbeddedProvisioning, Roster, SendLimits } from "../agents/mod.ts";
import { attachPeople, type EmbeddedIrc, ircChanges, openIrc } from "./irc.ts";
import type { IrcHost } from "./irc_host.ts";
import { IrcListeners } from "./irc_listeners.ts";
import type { DaemonOptions } from "./options.ts";
import { type IrcPorts, openPeople } from "./people.ts";
import type { Stores } from "./stores.ts";

/** The IRC server of this program, with the adapters for its interfaces. */
export type EmbeddedHost = IrcHost & EmbeddedIrc;

/**
 * Opens the IRC server of this program, and the services about its users. It listens nowhere yet.
 *
 * @param elsewhere where accounts log in and users are, if not on this server
 */
export async function openEmbedded(
  options: DaemonOptions,
  stores: Stores,
  started: AsyncDisposableStack,
  elsewhere: Partial<Pick<IrcPorts, "sessions" | "users" | "provisioning">> = {},
): Promise<EmbeddedHost> {
  const { config, database, scheduler, identity: { accounts } } = stores;
  const roster = await Roster.open({ database, accounts });
  const sendLimits = new SendLimits(roster, scheduler.now);
  const irc = await openIrc(options, stores, { roster, sendLimits });
  const { server, channels } = irc;
  const { sessions = server, users = server } = elsewhere;
  const listeners = new IrcListeners(server, options);
  const people = await openPeople(stores, {
    roster,
    sendLimits,
    sessions,
    users,
    provisioning: elsewhere.provisioning ?? new EmbeddedProvisioning(sessions),
    address: () => listeners.url,
  }, started);
  started.defer(() => channels.close());
  started.defer(() => server.close());
  attachPeople(irc, stores, people);
  const { nick } = config.bridge;
  return {
    ...irc,
    people,
    listeners,
    network: null,
    projectChannels: {
      attach: (owned) => irc.authority.attachProjects(owned),
      enforce: (channel) => server.enforceAdmission(channel),
      claim: (channel) => server.claimChannels([channel]),
      forget: (channel) => server.forgetConfined(channel),
    },
    bridgeOptions: {
      connect: {
        direct: (receiver) => server.connectDirect(receiver, { account: nick, privileged: true }),
      },
      hasChannel: (channel) => server.hasChannel(channel),
      onPosted: (channel, message) => people.inboxes.takePosted(channel, message),
    },
    attach: () => {},
    reconfigure(changed, renewed) {
      server.reconfigure(ircChanges(changed));
      if (renewed !== null) server.renewCertificate(renewed);
    },
    close: () => server.close(),
  };
}
