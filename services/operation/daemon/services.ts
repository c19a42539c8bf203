import type { FreeSpace } from "../../kernel/files.ts";
import type { AdminLogin, Admins } from "../../people/admins/mod.ts";
import { type Agents, type IrcAccounts, Slots } from "../../people/agents/mod.ts";
import type { Bots, HeraldDesk } from "../../chat/bots/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import { bridgeNickOf, type Config } from "../config/mod.ts";
import type { EventLog } from "../../engines/events/mod.ts";
import type {
  AccountDirectory,
  AgentSessions,
  Identity,
  OperatorToken,
  Tokens,
  WebSessions,
} from "../../people/identity/mod.ts";
import type { InboxDoor, ReturnWays } from "../../chat/inboxes/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import type { IrcBans } from "../../chat/irc_server/bans/mod.ts";
import type { LedgerServices } from "../../models/ledger/mod.ts";
import type { Llm } from "../../models/llm/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { ChangePauses, LogLevels, SelfExamination } from "../control/mod.ts";
import {
  type Draining,
  type NodeLinks,
  NodeOperations,
  type Nodes,
} from "../../cluster/nodes/mod.ts";
import { Policies } from "../../chat/policies/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { startBots } from "./bots.ts";
import { type Hosting, type HostingOptions, openHosting } from "./hosting.ts";
import { HaltNotices } from "./halt_notices.ts";
import { type Messaging, openMessaging } from "./messaging.ts";
import { openModels } from "./models.ts";
import { type NeedServices, openNeeds } from "./needs.ts";
import type { IrcHost } from "./irc_host.ts";
import { type Figures, openFigures } from "./figures.ts";
import type { DaemonOptions } from "./options.ts";
import { projectsFolderOf, type Stores } from "./stores.ts";
import { Grants, OauthClients } from "../../people/grants/mod.ts";
import { OutboundClient } from "../../kernel/outbound/mod.ts";
import type { SigningKeys } from "../../people/signing_keys/mod.ts";
import type { People } from "./people.ts";

/** The services behind HTTP and MCP. */
export interface Services extends Messaging, NeedServices, Figures {
  readonly config: Config;
  readonly log: Log;
  readonly scheduler: Scheduler;
  /** The servers that share the database; none if this one is alone. */
  readonly nodes: Nodes;
  readonly nodeOperations: Pick<NodeOperations, "list" | "drain" | "resume" | "remove">;
  /** Whether this server shall do nothing new. */
  readonly draining: Pick<Draining, "isDrained" | "onLeave">;
  /** For requests from and to them; null if this one is alone. */
  readonly nodeLinks: NodeLinks | null;
  readonly identity: Identity;
  readonly accounts: AccountDirectory;
  readonly agentSessions: AgentSessions;
  readonly tokens: Tokens;
  /** The keys that sign commits. */
  readonly signingKeys: SigningKeys;
  /** What people let OAuth clients do. */
  readonly grants: Grants;
  readonly oauthClients: OauthClients;
  readonly operatorToken: OperatorToken;
  readonly webSessions: WebSessions;
  /** The host of the web pages for browsers on this machine; null if they may use any of its names. */
  readonly pagesHost: string | null;
  readonly agents: Agents;
  readonly inboxes: InboxDoor;
  readonly ircAccounts: IrcAccounts;
  /** Null if the IRC server is not part of this program. */
  readonly ircServer: Pick<IrcServer, "clients"> | null;
  readonly ircBans: IrcBans | null;
  /** How many claims, workspaces, reviews and calls each agent may have. */
  readonly slots: Slots;
  readonly llm: Llm;
  /** What calls of models took, and budgets. */
  readonly accounting: LedgerServices;
  readonly hosting: Hosting;
  readonly haltNotices: HaltNotices;
  readonly eventLog: EventLog;
  /** Null if the configuration turns the policy store off. */
  readonly policies: Policies | null;
  /** Null if the configuration turns admins off, like their login. */
  readonly admins: Admins | null;
  readonly adminLogin: AdminLogin | null;
  /** Null without a bridge or a policy store. */
  readonly bots: Bots | null;
  /** Takes events from outside; null without bots. */
  readonly herald: HeraldDesk | null;
  /** Whether the disks have room for new work. */
  readonly space: FreeSpace;
  readonly logLevels: LogLevels;
  readonly changePauses: ChangePauses;
  readonly selfExamination: SelfExamination;
}

/**
 * Builds the services behind HTTP and MCP, and starts the bridge. Adds each part to the stack that
 * closes it.
 */
export async function startServices(
  options: Pick<
    DaemonOptions,
    "http" | "environment" | "logThreshold" | "startExamination" | "startsProcesses"
  >,
  stores: Stores,
  irc: IrcHost,
  started: AsyncDisposableStack,
): Promise<Services> {
  const { config, log, scheduler, identity, events: { eventLog } } = stores;
  const { people, server: ircServer, bans: ircBans } = irc;
  const { environment = (variable: string) => Deno.env.get(variable) } = options;
  const policies = await openPolicies(stores);
  const messaging = await openMessaging(stores, irc, policies);
  const { bridge } = messaging;
  if (bridge !== null) started.defer(() => bridge.stop());
  irc.attach(bridge);
  const slots = makeSlots(config, people.agents);
  const { http = null, startsProcesses = false } = options;
  const hostingOptions = { ...hostingOptionsOf(stores, irc, bridge), slots, startsProcesses };
  const hosting = await openHosting(hostingOptions, started);
  // Both enter channels, and only now is known which of them are closed.
  people.virtualUsers.restore();
  bridge?.start();
  const models = await openModels(stores, { people, hosting, slots, environment }, started);
  const { llm, accounting } = models;
  const needs = await openNeeds(stores, { irc, hosting, bridge, llm }, started);
  needs.needs.add(accounting.budgetNeeds);
  irc.describeAgents(needs.attention);
  people.returnNotices.attach(
    returnWays({ people, server: ircServer, bridge, bridgeNick: bridgeNickOf(config), log }),
  );
  const haltNotices = makeHaltNotices(stores, irc, bridge);
  started.defer(() => haltNotices.close());
  const figures = openFigures(stores, irc, { ...models, bridge, hosting, http }, started);
  const { status } = figures;
  const running = bridge === null ? null : await startBots(
    { bridge, policies, status, llm, eventLog, irc, hosting, voices: irc.botVoices(bridge) },
    stores,
    started,
  );
  return {
    ...identity,
    ...people,
    ...messaging,
    ...needs,
    ...figures,
    bots: running?.bots ?? null,
    herald: running?.herald ?? null,
    config,
    log,
    scheduler,
    signingKeys: stores.signingKeys,
    grants: new Grants({
      database: stores.database,
      accounts: identity.accounts,
      tokens: identity.tokens,
      clock: () => scheduler.now(),
    }),
    oauthClients: new OauthClients({
      client: new OutboundClient({ allowPrivate: config.webhooks.allow_private }),
      clock: () => scheduler.now(),
    }),
    space: stores.space,
    nodes: stores.nodes,
    nodeOperations: new NodeOperations(stores),
    draining: stores.draining,
    nodeLinks: stores.nodeLinks,
    eventLog,
    policies,
    slots,
    llm,
    accounting,
    hosting,
    haltNotices,
    ircServer,
    ircBans,
    ...openOperations(options, stores, { inboxes: people.inboxes, hosting }, started),
  };
}

async function openPolicies(
  { config, database, log, scheduler }: Stores,
): Promise<Policies | null> {
  if (!config.policies.enabled) return null;
  return await Policies.open({ database, log, clock: scheduler.now, bridge: config.bridge });
}

function makeSlots({ projects, llm, slots: types }: Config, { roster }: Pick<Agents, "roster">) {
  return new Slots({
    roster,
    general: {
      claims: projects.claims_per_agent,
      workspaces: projects.workspaces_per_agent,
      reviews: projects.reviews_per_agent,
      calls: llm.limits.calls_per_caller,
    },
    types,
  });
}

/** What operators change while the program runs. */
function openOperations(
  { logThreshold, startExamination }: Pick<
    DaemonOptions,
    "logThreshold" | "startExamination"
  >,
  { config, database, history, scheduler }: Stores,
  { inboxes, hosting }: Pick<Services, "inboxes" | "hosting">,
  started: AsyncDisposableStack,
): Pick<Services, "logLevels" | "changePauses" | "selfExamination"> {
  const { projects, repositories } = hosting;
  const flush = [() => inboxes.flush(), ...history === null ? [] : [() => history.flush()]];
  const changePauses = new ChangePauses({ projects, repositories, flush, scheduler });
  started.defer(() => changePauses.close());
  const selfExamination = new SelfExamination({ start: startExamination ?? null, scheduler });
  started.defer(() => selfExamination.close());
  const log = logThreshold ?? { level: config.log.level };
  const logLevels = new LogLevels({ log, database, scheduler });
  return { changePauses, logLevels, selfExamination };
}

function hostingOptionsOf(
  stores: Stores,
  { people, server: ircServer, projectChannels }: IrcHost,
  bridge: Bridge | null,
): Omit<HostingOptions, "slots"> {
  const { config, log, database, scheduler, identity, events: { eventLog } } = stores;
  return {
    database,
    eventLog,
    scheduler,
    log,
    accounts: identity.accounts,
    agentSessions: identity.agentSessions,
    signingKeys: stores.signingKeys,
    roster: people.agents.roster,
    halts: people.agents.halts,
    inboxes: people.inboxes,
    channelDoors: projectChannels,
    ircServer,
    bridge,
    configuredChannels: config.bridge.channels,
    tokens: identity.tokens,
    config: config.projects,
    webhookConfig: config.webhooks,
    checksConfig: config.checks,
    retentionDays: config.retention,
    limits: config.limits,
    tokenKey: identity.tokenKey,
    nodes: stores.nodes,
    nodeLinks: stores.nodeLinks,
    uploadBytes: config.limits.upload_bytes,
    syncBytes: config.limits.sync_bytes,
    identity: identity.identity,
    place: stores,
    folder: projectsFolderOf(stores),
    space: stores.space,
  };
}

function makeHaltNotices(
  { config, scheduler, log }: Stores,
  { people, server }: IrcHost,
  bridge: Bridge | null,
): HaltNotices {
  const { halts, roster } = people.agents;
  return new HaltNotices({
    halts,
    commands: people.haltCommands,
    roster,
    inboxes: people.inboxes,
    server,
    bridge,
    bridgeNick: bridgeNickOf(config),
    channels: config.bridge.channels,
    scheduler,
    log,
  });
}

interface ReturnWaysOptions {
  readonly people: Pick<People, "virtualUsers" | "privateFeed" | "isOnline">;
  /** Null on an external network. */
  readonly server: Pick<IrcServer, "accounts" | "notify" | "clients"> | null;
  readonly bridge: Pick<Bridge, "tell"> | null;
  readonly bridgeNick: string;
  readonly log: Log;
}

/**
 * How people learn of their messages that came back. On an external network, which keeps their
 * conversations, the bridge writes to them.
 */
function returnWays(
  { people, server, bridge, bridgeNick, log }: ReturnWaysOptions,
): ReturnWays {
  const { virtualUsers, privateFeed, isOnline } = people;
  return {
    note(agent, accountId, text) {
      const other = virtualUsers.identityOf(agent.id);
      const own = virtualUsers.identityOf(accountId);
      if (server === null || other === null || own === null) return;
      privateFeed.add(other, own, server.accounts.note(other, own, text));
    },
    nicksOf(account) {
      if (server === null) return isOnline(account) ? [account] : [];
      return server.clients().flatMap((client) =>
        client.nick !== null && client.account === account ? [client.nick] : []
      );
    },
    say(nick, text) {
      if (server !== null) return server.notify(nick, text, bridgeNick);
      const line = {
        speaker: null,
        account: null,
        lines: [text],
        isEnvelope: false,
        isNotice: true,
      };
      bridge?.tell(nick, line).catch((error: unknown) => {
        log.warn("Somebody could not be told that a message came back", { nick, error });
      });
    },
  };
}
