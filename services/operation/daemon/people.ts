import {
  AdminLogin,
  Admins,
  type AdminsOptions,
  type BrowserKey,
} from "../../people/admins/mod.ts";
import {
  type AgentRate,
  Agents,
  Halts,
  IrcAccounts,
  type Provisioning,
  Roster,
  SendLimits,
  type Sessions,
} from "../../people/agents/mod.ts";
import { BotPort } from "../../chat/bots/mod.ts";
import { HaltCommands } from "../control/mod.ts";
import { QuestionCommands } from "../../oversight/questions/mod.ts";
import { PrivateFeed } from "../../chat/chats/mod.ts";
import {
  type InboxDoor,
  Inboxes,
  type InboxesOptions,
  InboxPosts,
  InboxStore,
  MissedMessages,
  NodeInboxes,
  ReturnNotices,
} from "../../chat/inboxes/mod.ts";
import {
  StoredCalls,
  StoredHomes,
  type UserDirectory,
  VirtualUsers,
} from "../../chat/irc_server/virtual_users/mod.ts";
import { bridgeNickOf, type Config } from "../config/mod.ts";
import type { AccountDirectory, IdentityServices } from "../../people/identity/mod.ts";
import { foldCase, type IrcObserver, type ObservedMessage } from "../../engines/irc/mod.ts";
import { IrcModeration } from "../../chat/irc_server/mod.ts";
import { loginLimits, retentionOf, type Stores } from "./stores.ts";

/** The agents, who of them is halted, and how much each may say. */
export interface AgentDirectory {
  readonly roster: Roster;
  readonly sendLimits: SendLimits;
  readonly halts: Halts;
}

/** IRC and its agents, for the services about accounts. */
export interface IrcPorts extends AgentDirectory {
  readonly sessions: Sessions;
  readonly users: UserDirectory;
  readonly provisioning: Provisioning;
  readonly speakers: IrcSpeakers;
  /** Its address, for agents. */
  readonly address: () => string;
}

/** Accounts, and the services built on them. */
export interface People {
  readonly agents: Agents;
  /** The accounts whose rights a login to IRC gives. */
  readonly speakers: IrcSpeakers;
  readonly ircAccounts: IrcAccounts;
  readonly admins: Admins | null;
  readonly adminLogin: AdminLogin | null;
  readonly virtualUsers: VirtualUsers;
  readonly inboxes: InboxDoor;
  /** Whether an account has a connection to IRC. */
  readonly isOnline: (account: string) => boolean;
  /** Whether a user of the account is in a channel. */
  readonly isMember: (account: string, channel: string) => boolean;
  readonly privateFeed: PrivateFeed;
  /** What the IRC server tells about the bots' messages. */
  readonly botPort: BotPort;
  /** `!halt` and `!resume` on IRC. */
  readonly haltCommands: HaltCommands;
  /** `!answer`, `!questions` and answers by reply on IRC. */
  readonly questionCommands: QuestionCommands;
  /** Tells people of their messages that came back. */
  readonly returnNotices: ReturnNotices;
  /** The observer of the IRC server. */
  readonly observer: IrcObserver;
}

/** What people and admins may say without an IRC client: as much as with one. Null for no limit. */
export function accountRate({ irc: { limits } }: Config): AgentRate | null {
  const { account_lines_per_second: perSecond, account_burst: burst } = limits;
  return perSecond === 0 ? null : { messages_per_second: perSecond, burst };
}

/** Reads the agents and their halts. */
export async function openAgentDirectory(
  { config, database, scheduler, identity: { accounts, agentSessions: sessions } }: Stores,
): Promise<AgentDirectory> {
  const roster = await Roster.open({ database, accounts, sessions });
  const halts = await Halts.open({ database, roster, clock: scheduler.now });
  const sendLimits = new SendLimits({
    roster,
    halts,
    clock: scheduler.now,
    accountRate: accountRate(config),
  });
  return { roster, sendLimits, halts };
}

/** Builds the services about accounts on top of IRC. */
export async function openPeople(
  stores: Stores,
  irc: IrcPorts,
  started: AsyncDisposableStack,
): Promise<People> {
  const { config, log, scheduler, database, identity: services } = stores;
  const { accounts } = services;
  const { sessions, provisioning, users, roster, sendLimits, halts, speakers } = irc;
  const shared = {
    database,
    log,
    ...services,
    sessions,
    provisioning,
    roster,
    sendLimits,
    halts,
    clock: scheduler.now,
    serverAddress: irc.address,
  };
  const agents = new Agents(shared);
  started.defer(() => agents.close());
  started.defer(services.agentSessions.onChanged(({ id, agentId, name }, isLive) => {
    if (isLive && id !== agentId) sessions.freeNick(name);
  }));
  const minPasswordLength = config.irc.accounts.min_password_length;
  const ircAccounts = new IrcAccounts({ ...shared, minPasswordLength });

  const virtualUsers = await openVirtualUsers(stores, irc);
  started.defer(() => virtualUsers.close());
  const hears = virtualUsers.hears.bind(virtualUsers);
  const isOnline = (account: string) => sessions.isOnline(account);
  const returnNotices = new ReturnNotices(accounts);
  const inboxes = await openInboxes(
    stores,
    { roster, hears, isOnline, returns: returnNotices },
    started,
  );
  const moderation = new IrcModeration({ database, accounts, scheduler, log });
  started.defer(() => moderation.close());
  const haltCommands = new HaltCommands({ accounts: speakers, halts, log });
  const questionCommands = new QuestionCommands({ accounts: speakers, log });
  const observers = {
    agents,
    virtualUsers,
    inboxes,
    privateFeed: new PrivateFeed(),
    botPort: new BotPort(),
    haltCommands,
    questionCommands,
    returnNotices,
  };
  return {
    ...observers,
    speakers,
    ircAccounts,
    isOnline,
    isMember: (account, channel) => users.isMember(account, channel),
    ...openAdmins(config, shared, stores.identity.tokenKey),
    observer: observerOf({ ...observers, bridgeNick: bridgeNickOf(config), moderation }),
  };
}

async function openVirtualUsers(
  { config, database, scheduler, log, identity: { identity, accounts, agentSessions } }: Stores,
  { roster, sendLimits, users }: IrcPorts,
): Promise<VirtualUsers> {
  const homes = new StoredHomes(database, scheduler.now);
  const calls = new StoredCalls(database, log);
  const { present_hours: presentHours } = config.agents;
  return new VirtualUsers({
    identity,
    accounts,
    agentSessions,
    roster,
    sendLimits,
    users,
    scheduler,
    log,
    store: homes,
    homes: await homes.list(),
    calls,
    earlier: await calls.since(scheduler.now() - presentHours * 3_600_000),
    presentHours,
  });
}

function openAdmins(
  config: Config,
  shared: AdminsOptions & IdentityServices,
  key: BrowserKey,
): Pick<People, "admins" | "adminLogin"> {
  if (!config.admins.enabled) return { admins: null, adminLogin: null };
  const adminLogin = new AdminLogin({ ...shared, ...loginLimits(config), key });
  return { admins: new Admins(shared), adminLogin };
}

interface Observers extends
  Pick<
    People,
    | "agents"
    | "virtualUsers"
    | "inboxes"
    | "privateFeed"
    | "botPort"
    | "haltCommands"
    | "questionCommands"
    | "returnNotices"
  > {
  readonly bridgeNick: string;
  readonly moderation: IrcModeration;
}

function observerOf(observers: Observers): IrcObserver {
  const { agents, virtualUsers, inboxes, moderation, privateFeed, botPort } = observers;
  const { questionCommands, returnNotices } = observers;
  return {
    sessionStarted({ account, nick }) {
      agents.sessionSeen(account);
      questionCommands.greet(account, nick);
      returnNotices.greet(account, nick);
    },
    sessionEnded({ account }) {
      agents.sessionSeen(account);
      virtualUsers.sessionEnded(account);
    },
    operatorGranted: (event) => moderation.operatorGranted(event),
    killed: (event) => moderation.killed(event),
    accessChanged: ({ channel }) => virtualUsers.accessChanged(channel),
    kicked(event) {
      virtualUsers.removed(event.nick, event.channel);
      moderation.kicked(event);
    },
    modeChanged: (event) => moderation.modeChanged(event),
    topicChanged: (event) => moderation.topicChanged(event),
    messageSent(message) {
      if (message.sender.account !== null) agents.sendLimits.sent(message.sender.account);
      if (!botPort.isQuiet) inboxes.take(message);
      takeCommand(message, observers);
      privateFeed.take(message);
      botPort.take(message);
    },
    hostChanged: (event) => moderation.hostChanged(event),
    channelRenamed: (event) => moderation.channelRenamed(event),
    messageRedacted(redaction) {
      inboxes.forgetMessage(redaction.id);
      moderation.messageRedacted(redaction);
    },
  };
}

/** Passes on what a message may command: in a channel, or to the bridge. */
function takeCommand(
  message: ObservedMessage,
  { haltCommands, questionCommands, bridgeNick }: Observers,
): void {
  if (message.command !== "PRIVMSG") return;
  const { sender: { nick, account: sender }, channel, text, answered } = message;
  if (sender === bridgeNick) return questionCommands.announced(message.id, text);
  if (channel === null && message.receiver?.nick !== bridgeNick) return;
  const account = message.isRelayed ? null : sender;
  haltCommands.take({ nick, account, channel, text });
  questionCommands.take({ nick, account, channel, text, answered });
}

/** Opens the inboxes of agents. Of several nodes, the one that leads keeps them. */
async function openInboxes(
  { config, database, identity: services, nodes, leadership, scheduler, log }: Stores,
  people: Pick<InboxesOptions, "roster" | "hears" | "isOnline" | "returns">,
  started: AsyncDisposableStack,
): Promise<InboxDoor> {
  const { age } = retentionOf(config);
  const { identity, accounts, agentSessions } = services;
  const guard = () => leadership.guard();
  const make = () =>
    new Inboxes({
      ...people,
      identity,
      agentSessions,
      queueTime: config.inboxes.queue_hours * 60 * 60 * 1000 || null,
      accounts,
      bridgeNick: bridgeNickOf(config),
      store: config.irc.history.persist
        ? new InboxStore({ database, age, scheduler, log, guard })
        : null,
      scheduler,
      log,
    });
  if (nodes.self === null) {
    const inboxes = make();
    started.defer(() => inboxes.stop());
    inboxes.start();
    return inboxes;
  }
  const inboxes = new NodeInboxes({
    ...people,
    make,
    posts: await InboxPosts.open(database),
    missed: new MissedMessages({ isLed: () => nodes.leader !== null, clock: scheduler.now }),
    scheduler,
    log,
  });
  leadership.add(inboxes);
  started.defer(() => inboxes.stop());
  return inboxes;
}

/** Finds the account whose rights a login to IRC gives, by the name of the login. */
type IrcSpeakers = Pick<AccountDirectory, "find">;

/**
 * The accounts that a login on an existing network proves. muster made those of agents and people
 * there. It made none for its admins, so the name of one may be anybody's on the network: it counts
 * only if the configuration lists it.
 *
 * @param admins the names of `irc.admins`
 */
export function networkSpeakers(accounts: IrcSpeakers, admins: readonly string[]): IrcSpeakers {
  const listed = new Set(admins.map(foldCase));
  return {
    find(name) {
      const account = accounts.find(name);
      return account?.kind === "admin" && !listed.has(foldCase(name)) ? null : account;
    },
  };
}
