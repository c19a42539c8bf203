import { EmbeddedProvisioning } from "../agents/mod.ts";
import { ircChanges, ircUrl, listen, openIrc } from "./irc.ts";
import type { IrcHost } from "./irc_host.ts";
import type { DaemonOptions } from "./options.ts";
import { openPeople } from "./people.ts";
import type { Stores } from "./stores.ts";

/**
 * Opens the IRC server of this program, and the services about those who log in to it.
 *
 * @throws StartError where an address cannot be listened on
 */
export async function openEmbedded(
  options: DaemonOptions,
  stores: Stores,
  started: AsyncDisposableStack,
): Promise<IrcHost> {
  const { config } = stores;
  const sessions = {
    disconnectAccount: (account: string, reason: string) =>
      server.disconnectAccount(account, reason),
    freeNick: (account: string) => server.freeNick(account),
    forgetAccount: (account: string) => server.forgetAccount(account),
    claimChannels: (channels: readonly string[]) => {
      for (const channel of channels) server.channels.claim(channel);
    },
    isOnline: (account: string) => server.isOnline(account),
  };
  const later = {
    sessions,
    users: {
      findUser: (user: Parameters<typeof server.findUser>[0]) => server.findUser(user),
      addUser: (user: Parameters<typeof server.addUser>[0]) => server.addUser(user),
      isMember: (account: string, channel: string) => server.isMember(account, channel),
      standing: (user: Parameters<typeof server.standing>[0], channel: string) =>
        server.standing(user, channel),
      isAlone: (account: string, channel: string) => server.isAlone(account, channel),
    },
    provisioning: new EmbeddedProvisioning(sessions),
    address: () => ircUrl(config, addresses),
  };
  const people = await openPeople(stores, later, started);
  const { server, bans } = await openIrc(options, stores, people, started);
  const addresses = listen(server, options);
  const { nick } = config.bridge;
  return {
    ...{ people, server, bans, addresses },
    network: null,
    bridgeOptions: {
      connect: () => server.connect({ account: nick, privileged: true }),
      hasChannel: (channel) => server.hasChannel(channel),
      onPosted: (channel, message) => people.inboxes.takePosted(channel, message),
    },
    start: () => {},
    reconfigure(changed, renewed) {
      server.reconfigure(ircChanges(changed));
      if (renewed !== null) server.renewCertificate(renewed);
    },
    close: () => server.close(),
  };
}
