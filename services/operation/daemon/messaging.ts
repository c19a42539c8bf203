import { Bridge, StoredChannels } from "../../chat/bridge/mod.ts";
import { Chats, Conversations } from "../../chat/chats/mod.ts";
import { bridgeNickOf } from "../config/mod.ts";
import { DirectMessages, notStored } from "../../chat/inboxes/mod.ts";
import type { Policies } from "../../chat/policies/mod.ts";
import type { IrcHost } from "./irc_host.ts";
import type { Stores } from "./stores.ts";

/** What carries messages beside the IRC server. */
export interface Messaging {
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Bridge | null;
  readonly directMessages: DirectMessages;
  readonly chats: Chats;
  readonly conversations: Conversations;
}

/** Makes the bridge, which {@linkcode Bridge.start} starts, and what people and agents write with. */
export async function openMessaging(
  stores: Stores,
  irc: IrcHost,
  policies: Policies | null,
): Promise<Messaging> {
  const isEnabled = stores.config.bridge.enabled;
  const bridge = isEnabled ? await makeBridge(stores, irc, policies) : null;
  const directMessages = makeDirectMessages(stores, irc, bridge);
  return { bridge, directMessages, ...openChats(stores, irc, { bridge, directMessages }) };
}

async function makeBridge(
  stores: Stores,
  irc: IrcHost,
  policies: Policies | null,
): Promise<Bridge> {
  const { config, database, identity: { identity }, log, scheduler } = stores;
  const { channels, buffer_size, max_channels } = config.bridge;
  const ttlMinutes = () => (policies?.of("bridge") ?? config.bridge).web_user_ttl_minutes;
  const store = new StoredChannels(database);
  return new Bridge({
    nick: bridgeNickOf(config),
    channels,
    bufferSize: buffer_size,
    maxChannels: max_channels,
    maxChannelsPerAgent: config.limits.channels_per_agent,
    store,
    restored: await store.list(),
    webUserTtlMilliseconds: () => ttlMinutes() * 60_000,
    speakers: irc.people.virtualUsers,
    credentials: {
      onEnded: (listener) => identity.onEnded(listener),
      isCurrent: () => database.isCurrent,
    },
    mentions: irc.people.inboxes,
    ...irc.bridgeOptions,
    log,
    scheduler,
  });
}

function makeDirectMessages(
  { config, log, identity: { accounts } }: Stores,
  { people, server, bridgeOptions }: IrcHost,
  bridge: Bridge | null,
): DirectMessages {
  const { agents, virtualUsers, inboxes, isOnline } = people;
  const { roster, sendLimits } = agents;
  const bridgeNick = bridgeNickOf(config);
  return new DirectMessages({
    roster,
    sendLimits,
    accounts,
    virtualUsers,
    inboxes,
    isOnline,
    history: server === null ? null : {
      get takesMessages() {
        return server.accounts.takesMessages;
      },
      record(from, to, texts, id) {
        const messages = server.accounts.record(from, to, texts, id);
        for (const message of messages) people.privateFeed.add(from, to, message);
        if (messages.length < texts.length) throw notStored();
      },
      hasSaid: (from, nick, id) => server.accounts.hasSaid(from, nick, id),
    },
    bridge,
    bridgeNick,
    otherBridges: () => bridgeOptions.nodes?.peers.nicks ?? [],
    log,
  });
}

function openChats(
  { config, scheduler, history, identity: { accounts } }: Stores,
  { people: { virtualUsers, isMember, privateFeed: feed }, positions, server }: IrcHost,
  { bridge, directMessages }: Pick<Messaging, "bridge" | "directMessages">,
): Pick<Messaging, "chats" | "conversations"> {
  const view = server?.accounts ?? null;
  const shared = { virtualUsers, view, positions, scheduler };
  const bufferSize = config.bridge.buffer_size;
  return {
    chats: new Chats({ ...shared, bridge, isMember, bufferSize, history }),
    conversations: new Conversations({ ...shared, directMessages, accounts, feed }),
  };
}
