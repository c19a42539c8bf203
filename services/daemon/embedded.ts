import { EmbeddedProvisioning, Roster, SendLimits } from "../agents/mod.ts";
import { attachPeople, ircChanges, openIrc } from "./irc.ts";
import type { IrcHost } from "./irc_host.ts";
import { IrcListeners } from "./irc_listeners.ts";
import type { DaemonOptions } from "./options.ts";
import { openPeople } from "./people.ts";
import type { Stores } from "./stores.ts";

/**
 * Opens the IRC server of this program, and the services about those who log in to it. It listens nowhere
 * yet.
 */
export async function openEmbedded(
  options: DaemonOptions,
  stores: Stores,
  started: AsyncDisposableStack,
): Promise<IrcHost> {
  const { config, database, scheduler, identity: { accounts } } = stores;
  const roster = await Roster.open({ database, accounts });
  const sendLimits = new SendLimits(roster, scheduler.now);
  const irc = await openIrc(options, stores, { roster, sendLimits });
  const { server, bans, channels } = irc;
  const listeners = new IrcListeners(server, options);
  const people = await openPeople(stores, {
    ...{ roster, sendLimits },
    sessions: server,
    users: server,
    provisioning: new EmbeddedProvisioning(server),
    address: () => listeners.url,
  }, started);
  started.defer(() => channels.close());
  started.defer(() => server.close());
  attachPeople(irc, stores, people);
  const { nick } = config.bridge;
  return {
    ...{ people, server, bans, listeners },
    network: null,
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
