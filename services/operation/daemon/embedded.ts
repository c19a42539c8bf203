import { EmbeddedProvisioning } from "../../people/agents/mod.ts";
import { ServerVoices } from "../../chat/bots/mod.ts";
import { attachPeople, type EmbeddedIrc, ircChanges, openIrc } from "./irc.ts";
import type { IrcHost } from "./irc_host.ts";
import { IrcListeners } from "./irc_listeners.ts";
import type { DaemonOptions } from "./options.ts";
import { quietText } from "../../people/work_states.ts";
import { accountRate, type IrcPorts, openAgentDirectory, openPeople } from "./people.ts";
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
  const directory = await openAgentDirectory(stores);
  const { sendLimits } = directory;
  const irc = await openIrc(options, stores, directory);
  const { server, channels, unregistered, mutes } = irc;
  const { sessions = server, users = server } = elsewhere;
  const listeners = new IrcListeners(server, options);
  const people = await openPeople(stores, {
    ...directory,
    sessions,
    users,
    provisioning: elsewhere.provisioning ?? new EmbeddedProvisioning(sessions),
    speakers: stores.identity.accounts,
    address: () => listeners.url,
  }, started);
  started.defer(() => channels.close());
  started.defer(() => unregistered.close());
  started.defer(() => server.close());
  started.defer(() => mutes.close());
  attachPeople(irc, stores, people);
  const { nick } = stores.config.bridge;
  return {
    ...irc,
    people,
    listeners,
    positions: server.accounts,
    network: null,
    projectChannels: {
      attach: (owned) => irc.authority.attachProjects(owned),
      enforce: (channel) => server.enforceAdmission(channel),
      claim: (channel) => server.claimChannels([channel]),
      forget: (channel) => server.forgetConfined(channel),
    },
    claimReports: (channels) => {
      server.claimChannels(irc.authority.setReportChannels(channels));
    },
    bridgeOptions: {
      connect: {
        direct: (receiver) => server.connectDirect(receiver, { account: nick, privileged: true }),
      },
      archive: stores.history,
      hasChannel: (channel) => server.hasChannel(channel),
      onPosted: (channel, message) => people.inboxes.takePosted(channel, message),
    },
    botVoices: () => new ServerVoices(server, people.botPort),
    describeAgents(attention) {
      irc.authority.activity = async (account) => {
        const agent = directory.roster.find(account);
        // WHOIS answers without it while the database is away.
        const work = agent === null ? null : await attention.agent(agent.agentId).catch(() => null);
        if (work === null) return null;
        return [`is ${work.state}`, quietText(work.quietMinutes)].filter(Boolean).join(", ");
      };
    },
    attach: () => {},
    reconfigure(changed, renewed) {
      server.reconfigure(ircChanges(changed));
      sendLimits.reconfigure(accountRate(changed));
      if (renewed !== null) server.renewCertificate(renewed);
    },
    keepChannels: () => server.keepChannels(),
    close: () => server.close(),
  };
}
