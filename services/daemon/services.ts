import type { AdminLogin, Admins } from "../admins/mod.ts";
import { type Agents, type IrcAccounts, Slots } from "../agents/mod.ts";
import { Attention, WorkNeeds } from "../attention/mod.ts";
import type { Bots, HeraldDesk } from "../bots/mod.ts";
import { Bridge, StoredChannels } from "../bridge/mod.ts";
import { Chats, Conversations } from "../chats/mod.ts";
import { bridgeNickOf, type Config } from "../config/mod.ts";
import type { EventLog } from "../events/mod.ts";
import type {
  AccountDirectory,
  Identity,
  OperatorToken,
  Tokens,
  WebSessions,
} from "../identity/mod.ts";
import { DirectMessages, type InboxDoor } from "../inboxes/mod.ts";
import type { IrcServer } from "../irc/mod.ts";
import type { IrcBans } from "../irc_server/bans/mod.ts";
import { type LedgerServices, openLedger } from "../ledger/mod.ts";
import { type Llm, openLlm } from "../llm/mod.ts";
import type { Log } from "../log.ts";
import { type MetricHistory, Metrics, Status } from "../metrics/mod.ts";
import { ChangePauses, LogLevels, SelfExamination } from "../operations/mod.ts";
import { Needs } from "../needs/mod.ts";
import { type Draining, type NodeLinks, NodeOperations, type Nodes } from "../nodes/mod.ts";
import { Policies } from "../policies/mod.ts";
import { QuestionNeeds, Questions } from "../questions/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { openCallExport } from "../telemetry/mod.ts";
import { startBots } from "./bots.ts";
import { type Hosting, type HostingOptions, openHosting } from "./hosting.ts";
import { HaltNotices } from "./halt_notices.ts";
import { startLeading } from "./leading.ts";
import { returnWays } from "./return_ways.ts";
import { QuestionNotices } from "./question_notices.ts";
import type { IrcHost } from "./irc_host.ts";
import type { DaemonOptions } from "./options.ts";
import type { Stores } from "./stores.ts";

/** The services behind HTTP and MCP. */
export interface Services {
  readonly config: Config;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly metrics: Pick<
    Metrics,
    "requestAnswered" | "toolCalled" | "streamOpened" | "streamClosed" | "render"
  >;
  /** The figures of the last two hours; a program that shows them starts it. */
  readonly metricHistory: MetricHistory;
  readonly status: Status;
  /** The servers that share the database; none if this one is alone. */
  readonly nodes: Nodes;
  readonly nodeOperations: Pick<NodeOperations, "list" | "drain" | "resume" | "remove">;
  /** Whether this server shall do nothing new. */
  readonly draining: Pick<Draining, "isDrained" | "onLeave">;
  /** For requests from and to them; null if this one is alone. */
  readonly nodeLinks: NodeLinks | null;
  readonly identity: Identity;
  readonly accounts: AccountDirectory;
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly webSessions: WebSessions;
  readonly agents: Agents;
  readonly inboxes: InboxDoor;
  readonly directMessages: DirectMessages;
  readonly chats: Chats;
  readonly conversations: Conversations;
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
  /** For the home page. */
  readonly attention: Attention;
  /** What waits for somebody. Each part in which something can wait is one of its sources. */
  readonly needs: Needs;
  readonly questions: Questions;
  readonly haltNotices: HaltNotices;
  readonly eventLog: EventLog;
  /** Null if the configuration turns the policy store off. */
  readonly policies: Policies | null;
  /** Null if the configuration turns admins off, like their login. */
  readonly admins: Admins | null;
  readonly adminLogin: AdminLogin | null;
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Bridge | null;
  /** Null without a bridge or a policy store. */
  readonly bots: Bots | null;
  /** Takes events from outside; null without bots. */
  readonly herald: HeraldDesk | null;
  readonly logLevels: LogLevels;
  readonly changePauses: ChangePauses;
  readonly selfExamination: SelfExamination;
}

/**
 * Builds the services behind HTTP and MCP, and starts the bridge. Adds each part to the stack that
 * closes it.
 */
export async function startServices(
  options: Pick<DaemonOptions, "http" | "environment" | "logThreshold" | "startExamination">,
  stores: Stores,
  irc: IrcHost,
  started: AsyncDisposableStack,
): Promise<Services> {
  const { config, log, database, scheduler, identity, history, events: { eventLog } } = stores;
  const { people, server: ircServer, bans: ircBans, network } = irc;
  const { http = null, environment = (variable: string) => Deno.env.get(variable) } = options;
  const policies = config.policies.enabled
    ? await Policies.open({ database, log, clock: scheduler.now, bridge: config.bridge })
    : null;
  const bridge = config.bridge.enabled ? await makeBridge({ stores, irc, policies }) : null;
  if (bridge !== null) started.defer(() => bridge.stop());
  irc.attach(bridge);
  const directMessages = makeDirectMessages(stores, irc, bridge);
  const slots = makeSlots(config, people.agents);
  const hosting = await openHosting({ ...hostingOptionsOf(stores, irc, bridge), slots }, started);
  // It enters channels, and only now is known which of them are closed.
  bridge?.start();
  const { halts, roster } = people.agents;
  const accounting = await openLedger(
    { ...hosting, database, roster, config: config.llm, scheduler, log },
    started,
  );
  const { ledger, retention } = accounting;
  await startLeading(stores, retention, started);
  const callExport = await openCallExport(
    { config: config.llm.otlp, environment, ledger, scheduler, log },
    started,
  );
  const llm = openLlm({
    database,
    config: config.llm,
    environment,
    ledger,
    slots,
    scheduler,
    halts,
  });
  const { gateway } = llm;
  started.defer(() => gateway.close());
  const { agents } = people;
  const questions = await openQuestions(stores, irc, hosting, started);
  await startLeading(stores, {
    start: () => questions.start(),
    stop: () => questions.stop(),
  }, started);
  const attention = new Attention({ ...hosting, agents, questions, eventLog, scheduler });
  started.defer(() => attention.close());
  const needs = openNeeds(stores, hosting, attention);
  needs.add(new QuestionNeeds(questions));
  const questionNotices = new QuestionNotices({
    ...hosting,
    questions,
    commands: people.questionCommands,
    accounts: identity.accounts,
    server: ircServer,
    bridge,
    leadership: stores.leadership,
    scheduler,
    log,
  });
  started.defer(() => questionNotices.close());
  await startLeading(stores, { start: () => questionNotices.takeOver(), stop() {} }, started);
  people.returnNotices.attach(returnWays({ people, server: ircServer, bridge, log }));
  needs.add(accounting.budgetNeeds);
  const haltNotices = new HaltNotices({
    halts,
    commands: people.haltCommands,
    roster: agents.roster,
    inboxes: people.inboxes,
    server: ircServer,
    bridge,
    channels: config.bridge.channels,
    scheduler,
    log,
  });
  started.defer(() => haltNotices.close());
  const { refusals } = identity;
  const metrics = new Metrics({
    irc: ircServer,
    network,
    bridge,
    agents,
    llm: gateway,
    ledger,
    callExport,
    refusals,
    history,
    http,
    sync: hosting.sync,
    nodes: stores.nodes,
  }, scheduler);
  started.defer(() => metrics.close());
  const status = makeStatus(stores, irc, { bridge, repositories: hosting.repositories });
  const running = bridge === null ? null : await startBots(
    { bridge, policies, status, llm, eventLog, irc, hosting, voices: irc.botVoices(bridge) },
    stores,
    started,
  );
  return {
    ...identity,
    ...people,
    config,
    log,
    scheduler,
    nodes: stores.nodes,
    nodeOperations: new NodeOperations(stores),
    draining: stores.draining,
    nodeLinks: stores.nodeLinks,
    metrics,
    metricHistory: metrics.history,
    status,
    eventLog,
    policies,
    slots,
    llm,
    accounting,
    hosting,
    attention,
    needs,
    questions,
    haltNotices,
    bridge,
    bots: running?.bots ?? null,
    herald: running?.herald ?? null,
    ircServer,
    ircBans,
    directMessages,
    ...openOperations(options, stores, { inboxes: people.inboxes, hosting }, started),
    ...openChats(stores, irc, { bridge, directMessages }),
  };
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

/** The list of what waits for somebody, with the sources that every server has. */
function openNeeds(
  { identity: { accounts } }: Stores,
  { projects, reviews }: Pick<Hosting, "projects" | "reviews">,
  attention: Attention,
): Needs {
  const needs = new Needs();
  needs.add(
    new WorkNeeds({
      attention,
      reviews,
      slugOf: (projectId) => projects.get(projectId)?.project.slug ?? null,
      nameOf: (accountId) => accounts.get(accountId)?.name ?? null,
    }),
  );
  return needs;
}

/** The questions of agents. Their deadlines stand still while the agents are halted. */
async function openQuestions(
  { database, scheduler, log, identity: { accounts, identity } }: Stores,
  { people: { agents: { roster, halts }, inboxes, virtualUsers } }: IrcHost,
  { projects, reads }: Pick<Hosting, "projects" | "reads">,
  started: AsyncDisposableStack,
): Promise<Questions> {
  const questions = await Questions.open({
    database,
    accounts,
    identity,
    roster,
    halts,
    speech: virtualUsers,
    inboxes,
    projects,
    reads,
    scheduler,
    log,
  });
  started.defer(() => questions.close());
  halts.extend((isHalted, now) => questions.freezing(isHalted, now));
  started.defer(halts.onChanged(() => questions.thawed()));
  return questions;
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

function openChats(
  { config, scheduler, history, identity: { accounts } }: Stores,
  { people: { virtualUsers, isMember, privateFeed: feed }, positions, server }: IrcHost,
  { bridge, directMessages }: Pick<Services, "bridge" | "directMessages">,
): Pick<Services, "chats" | "conversations"> {
  const view = server?.accounts ?? null;
  const shared = { virtualUsers, view, positions, scheduler };
  const bufferSize = config.bridge.buffer_size;
  return {
    chats: new Chats({ ...shared, bridge, isMember, bufferSize, history }),
    conversations: new Conversations({ ...shared, directMessages, accounts, feed }),
  };
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
    tokenKey: identity.tokenKey,
    nodes: stores.nodes,
    nodeLinks: stores.nodeLinks,
    uploadBytes: config.limits.upload_bytes,
    syncBytes: config.limits.sync_bytes,
    identity: identity.identity,
    place: stores,
    folder: config.projects.dir || stores.folder.file("projects"),
  };
}

interface BridgeSurroundings {
  readonly stores: Stores;
  readonly irc: IrcHost;
  readonly policies: Policies | null;
}

async function makeBridge({ stores, irc, policies }: BridgeSurroundings): Promise<Bridge> {
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
      record(from, to, texts) {
        const messages = server.accounts.record(from, to, texts);
        for (const message of messages) people.privateFeed.add(from, to, message);
      },
    },
    bridge,
    bridgeNick,
    otherBridges: () => bridgeOptions.nodes?.peers.nicks ?? [],
    log,
  });
}

function makeStatus(
  { database, scheduler, nodes, draining }: Stores,
  { people, network }: IrcHost,
  { bridge, repositories }: Pick<Hosting, "repositories"> & { readonly bridge: Bridge | null },
): Status {
  return new Status({
    clock: scheduler.now,
    agents: () => people.agents.counts().total,
    halted: () => people.agents.halts.isAny,
    agentsHalted: () => people.agents.halts.count(),
    healthy: () => database.trouble === null,
    recheck: () => database.probe(),
    node: nodes.self === null ? null : nodes,
    parts: {
      node: () => draining.isDrained ? "drained" : true,
      database: () => database.isCurrent ? database.trouble === null : "out of touch",
      bridge: () => bridge === null || bridge.ready,
      network: () => network?.trouble ?? true,
      repositories: () => repositories.files.trouble ?? true,
    },
  });
}
