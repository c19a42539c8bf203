import { join } from "node:path";
import { Checks, CheckWaits } from "../../work/checks/mod.ts";
import type { Config } from "../config/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import type { EventLog } from "../../engines/events/mod.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { Feeds } from "../../work/feeds/mod.ts";
import {
  type AccountDirectory,
  type AgentSessions,
  HourlyQuota,
  type Identity,
  type TokenKey,
  type Tokens,
} from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { InboxDoor } from "../../chat/inboxes/mod.ts";
import type { Halts, Roster, Slots } from "../../people/agents/mod.ts";
import { type LeadingPlace, startLeading } from "./leading.ts";
import {
  ArrivingCopies,
  ProjectMoves,
  type ProjectMovesOptions,
  ProjectRestores,
} from "../../cluster/moves/mod.ts";
import type { NodeLinks, Nodes } from "../../cluster/nodes/mod.ts";
import { OutboundClient } from "../../kernel/outbound/mod.ts";
import { type NotificationDoors, type Notifications, openNotifications } from "./notifications.ts";
import type { SigningKeys } from "../../people/signing_keys/mod.ts";
import { Markup } from "../../engines/markup/mod.ts";
import { TicketNotes } from "../../oversight/notifications/mod.ts";
import {
  ProjectHomes,
  ProjectRepositories,
  Projects,
  ReadsAnywhere,
  RepositoryWatch,
} from "../../work/projects/mod.ts";
import { Protection } from "../../work/protection/mod.ts";
import { SqlQueries } from "../../work/queries/mod.ts";
import { DataRetention, type RetentionDays } from "../retention/mod.ts";
import { openReviews, type ReviewServices } from "../../work/reviews/mod.ts";
import { Leases, Runners } from "../../work/runners/mod.ts";
import {
  ARRIVING,
  CheckDefinitions,
  CheckSecrets,
  Dispatcher,
  ForgeTasks,
  JobArtifacts,
  JobCaches,
  JobLogs,
  Leftovers,
  nextOfWorkflows,
  RunFigures,
  Runs,
  Triggers,
  WorkflowArtifacts,
  WorkflowSource,
} from "../../work/runs/mod.ts";
import { Releases, Uploads } from "../../work/releases/mod.ts";
import { GitDoor, GitPushes, LfsObjects } from "../../work/git/mod.ts";
import { Signatures } from "../../work/signatures/mod.ts";
import { Imports } from "../../work/imports/mod.ts";
import { Mirrors } from "../../work/mirrors/mod.ts";
import { Callbacks, EventRights } from "../../work/subscriptions/mod.ts";
import { SignedPosts, Webhooks, WebhookSender } from "../../work/webhooks/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { ProjectSearch } from "../../work/search/mod.ts";
import { ProjectSync } from "../../work/sync/mod.ts";
import { Technotes } from "../../work/technotes/mod.ts";
import { Forum } from "../../work/forum/mod.ts";
import { ProjectTexts } from "../../work/texts/mod.ts";
import {
  Claims,
  CustomFields,
  Submissions,
  TicketNumbers,
  Tickets,
} from "../../work/tickets/mod.ts";
import { Wikis } from "../../work/wiki/mod.ts";
import { OverlapWatch, Workspaces } from "../../work/workspaces/mod.ts";

export interface HostingOptions extends NotificationDoors {
  /** The folder of the repository files. */
  readonly folder: string;
  readonly config: Config["projects"];
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly webhookConfig: Config["webhooks"];
  readonly checksConfig: Config["checks"];
  readonly retentionDays: RetentionDays;
  readonly limits: Pick<
    Config["limits"],
    "project_bytes" | "account_bytes" | "pushes_per_hour" | "reports_per_hour"
  >;
  /** Bytes of an uploaded file. */
  readonly uploadBytes: number;
  /** The most bytes of cards in a message of sync. */
  readonly syncBytes: number;
  readonly identity: Identity;
  /** What the secrets of webhooks are derived from. */
  readonly tokenKey: TokenKey;
  readonly accounts: AccountDirectory;
  readonly agentSessions: AgentSessions;
  readonly roster: Roster;
  readonly halts: Halts;
  readonly slots: Slots;
  readonly inboxes: InboxDoor;
  readonly tokens: Tokens;
  readonly signingKeys: SigningKeys;
  readonly nodes: Nodes;
  /** Null if the server is alone. */
  readonly nodeLinks: NodeLinks | null;
  readonly space: FreeSpace;
  /** Whether processes, and not threads, read repositories and markup. */
  readonly startsProcesses?: boolean;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Where work runs that one node does for all. */
  readonly place: LeadingPlace;
}

/** The services of repository hosting. */
export interface Hosting extends ReviewServices, Notifications {
  readonly workspaces: Workspaces;
  readonly overlapWatch: OverlapWatch;
  readonly ticketNotes: TicketNotes;
  readonly projects: Projects;
  readonly repositories: ProjectRepositories;
  readonly claims: Claims;
  readonly wikis: Wikis;
  readonly feeds: Feeds;
  readonly tickets: Tickets;
  readonly customFields: CustomFields;
  readonly submissions: Submissions;
  readonly checks: Checks;
  /** The programs that run checks, and which job each has. */
  readonly runners: Runners;
  readonly leases: Leases;
  /** Runs of checks, and what gives their jobs to runners. */
  readonly runs: Runs;
  readonly dispatcher: Dispatcher;
  readonly checkTriggers: Triggers;
  readonly jobLogs: JobLogs;
  /** What runners of Forgejo and Gitea get. */
  readonly forgeTasks: ForgeTasks;
  readonly jobArtifacts: JobArtifacts;
  /** The same files, as actions know them. */
  readonly workflowArtifacts: WorkflowArtifacts;
  readonly jobCaches: JobCaches;
  readonly runFigures: RunFigures;
  readonly checkSecrets: CheckSecrets;
  readonly checkWaits: CheckWaits;
  readonly protection: Protection;
  readonly releases: Releases;
  readonly technotes: Technotes;
  readonly forum: Forum;
  readonly texts: ProjectTexts;
  readonly uploads: Uploads;
  /** `fossil clone`, `pull` and `push`. */
  readonly sync: ProjectSync;
  /** `git clone` and `git fetch`. */
  readonly git: GitDoor;
  /** `git push`. */
  readonly gitPushes: GitPushes;
  /** The content of Git LFS. */
  readonly lfs: LfsObjects;
  /** The signatures of commits. */
  readonly signatures: Signatures;
  readonly webhooks: Webhooks;
  readonly webhookSender: WebhookSender;
  readonly eventRights: EventRights;
  /** Receivers of events that MCP clients name. */
  readonly callbacks: Callbacks;
  readonly mirrors: Mirrors;
  readonly imports: Imports;
  /** Removes what ended long ago. */
  readonly retention: DataRetention;
  /** What each token may do within an hour. */
  readonly hourlyQuotas: Readonly<Record<"pushes" | "reports", HourlyQuota>>;
  readonly sqlQueries: SqlQueries;
  readonly reads: ReadsAnywhere;
  /** Full text search over projects. */
  readonly search: ProjectSearch;
  /** Copies of projects that other nodes send. */
  readonly arrivingCopies: ArrivingCopies;
  readonly moves: ProjectMoves;
  readonly restores: ProjectRestores;
}

/** What runs checks. */
type CheckRuns = Pick<
  Hosting,
  | "runners"
  | "leases"
  | "runs"
  | "dispatcher"
  | "checkTriggers"
  | "jobLogs"
  | "forgeTasks"
  | "jobArtifacts"
  | "workflowArtifacts"
  | "jobCaches"
  | "runFigures"
  | "checkSecrets"
>;

/** The services of the work on projects. */
type Work = Omit<
  Hosting,
  | keyof Notifications
  | keyof CheckRuns
  | "wikis"
  | "feeds"
  | "checkWaits"
  | "overlapWatch"
  | "ticketNotes"
  | "technotes"
  | "forum"
  | "texts"
  | "uploads"
  | "sync"
  | "git"
  | "gitPushes"
  | "lfs"
  | "signatures"
  | "webhooks"
  | "webhookSender"
  | "eventRights"
  | "callbacks"
  | "mirrors"
  | "imports"
  | "retention"
  | "sqlQueries"
  | "reads"
  | "search"
  | "arrivingCopies"
  | "moves"
  | "restores"
>;

/** Most workspaces of an agent that are looked at for one of its sessions. */
const MOST_ASKED = 1000;

/** Opens projects and the work on them: tickets, claims, workspaces, reviews and releases. */
async function openWork(options: HostingOptions, started: AsyncDisposableStack): Promise<Work> {
  const { database, accounts, tokens, scheduler, log, config, halts } = options;
  const clock = () => scheduler.now();
  const homes = new ProjectHomes(options.nodes);
  const { limits } = options;
  const quotas = { projectBytes: limits.project_bytes, accountBytes: limits.account_bytes };
  const repositories = await ProjectRepositories.open({ ...options, homes, quotas });
  started.defer(() => repositories.close());
  const projects = await Projects.open({
    database,
    accounts,
    repositories,
    tokens,
    defaults: config,
    halts,
    clock,
  });
  const hourlyQuotas = {
    pushes: new HourlyQuota({
      most: limits.pushes_per_hour,
      what: "pushes",
      setting: "limits.pushes_per_hour",
      clock,
    }),
    reports: new HourlyQuota({
      most: limits.reports_per_hour,
      what: "reports",
      setting: "limits.reports_per_hour",
      clock,
    }),
  };
  const checks = new Checks({ database, repositories, quota: hourlyQuotas.reports, clock });
  const releases = new Releases({ database, repositories, clock });
  const protection = await Protection.open({ database, checks, repositories, accounts, clock });
  const claims = await Claims.open({
    database,
    projects,
    repositories,
    accounts,
    scheduler,
    log,
    slots: options.slots,
    agentSessions: options.agentSessions,
  });
  started.defer(() => claims.close());
  halts.extend((isHalted, now) => claims.freezing(isHalted, now));
  started.defer(halts.onChanged(() => claims.thawed()));
  const numbers = new TicketNumbers({ database, repositories });
  const tickets = new Tickets({ accounts, projects, repositories, claims, numbers });
  const customFields = new CustomFields({ repositories });
  const submissions = new Submissions({ repositories, claims, tickets });
  const workspaces = new Workspaces({
    database,
    repositories,
    accounts,
    claims,
    scheduler,
    limits: { slots: options.slots, perProject: config.workspaces },
  });
  options.agentSessions.askBefore(async ({ agentId, name }) => {
    const isIts = (holder: { readonly key: string; readonly name: string }) =>
      holder.key === agentId && holder.name === name;
    for (const { holder } of claims.all()) if (isIts(holder)) return true;
    const active = await workspaces.activeOf(agentId, MOST_ASKED);
    return active.some(({ owner }) => isIts(owner));
  });
  const work = {
    hourlyQuotas,
    projects,
    repositories,
    claims,
    tickets,
    customFields,
    submissions,
    checks,
    protection,
    releases,
    workspaces,
  };
  return { ...work, ...openReviews({ ...options, ...work }) };
}

/**
 * Opens the services of repository hosting in order. Then settles what an earlier process left,
 * which needs every kind of intention, and watches what other programs write. Adds each part to the
 * stack that closes it.
 */
export async function openHosting(
  options: HostingOptions,
  started: AsyncDisposableStack,
): Promise<Hosting> {
  const { accounts, scheduler, log, startsProcesses = false } = options;
  const feeds = new Feeds(options);
  started.defer(() => feeds.close());
  const work = await openWork(options, started);
  const { projects, repositories, claims, tickets, workspaces, reviews } = work;
  const uploads = await openUploads(options, work, started);
  const markup = new Markup({
    scheduler,
    startsProcesses,
    onUnusable: (reason) => {
      log.warn("The worker of markup cannot start; texts are shown as they are", { reason });
    },
  });
  started.defer(() => markup.close());
  const texts = new ProjectTexts({ markup, repositories, accounts, numbers: tickets.numbers });
  const { store } = reviews;
  const ticketNotes = new TicketNotes({
    ...options,
    tickets,
    reviews: store,
    projects,
    repositories,
  });
  await repositories.takeovers.leaveOthers(projects.all());
  const watch = new RepositoryWatch({ projects, repositories, scheduler, log });
  await watch.start();
  started.defer(() => watch.close());
  claims.start();
  await work.landing.start();
  started.defer(() => work.landing.close());
  const git = new GitDoor({ repositories, reviews: store, scheduler, log });
  const checkRuns = await openCheckRuns(options, { ...work, git }, started);
  const notifications = await openNotifications(
    {
      ...options,
      lastLines: (project, checkin, context) => checkRuns.runs.lastLines(project, checkin, context),
      projects,
      repositories,
      claims,
      numbers: tickets.numbers,
      workspaces,
      reviews: store,
      ticketNotes,
    },
    started,
  );
  const overlapWatch = await openOverlapWatch(options, work, started);
  const wikis = new Wikis({ repositories });
  const sqlQueries = new SqlQueries({ repositories, scheduler, log });
  started.defer(() => sqlQueries.close());
  const reads = new ReadsAnywhere({ repositories, client: options.nodeLinks?.client ?? null });
  const followers = [notifications.notifier, ticketNotes, overlapWatch];
  return {
    ...work,
    ...checkRuns,
    ...await openMoves({ ...options, projects, repositories, uploads, followers }, started),
    reads,
    search: new ProjectSearch({ ...options, projects, reads }),
    wikis,
    sqlQueries,
    feeds,
    checkWaits: new CheckWaits({ feeds, projects, scheduler }),
    overlapWatch,
    ...notifications,
    ticketNotes,
    technotes: new Technotes({ repositories }),
    forum: new Forum({ repositories }),
    texts,
    uploads,
    sync: makeSync(options, work),
    git,
    gitPushes: makePushes(options, { ...work, git }),
    lfs: new LfsObjects({ repositories, maxBytes: options.uploadBytes }),
    signatures: new Signatures({ repositories, keys: options.signingKeys }),
    ...await openWebhooks(options, projects, started),
    mirrors: openMirrors(options, { ...work, git }, started),
    imports: openImports(options, work, started),
    retention: openRetention(options, work, started),
  };
}

/** Opens what runs checks, and goes on with the runs that have not ended. */
async function openCheckRuns(
  options: HostingOptions,
  work: Work & Pick<Hosting, "git">,
  started: AsyncDisposableStack,
): Promise<CheckRuns> {
  const { database, scheduler, identity, tokenKey: key, log, halts, folder } = options;
  const { repositories, reviews } = work;
  const clock = () => scheduler.now();
  const leases = await Leases.open({ database, identity, key, clock });
  const runners = await Runners.open({ ...work, database, identity, leases, key, log, clock });
  const sources = [
    new CheckDefinitions(repositories),
    new WorkflowSource({
      ...work,
      reviews: reviews.store,
      actionsUrl: options.checksConfig.actions_url || null,
    }),
  ];
  const jobLogs = new JobLogs(join(folder, ".checks"));
  const runs = new Runs({
    ...work,
    logs: jobLogs,
    database,
    leases,
    runners,
    sources,
    nextOfWorkflow: nextOfWorkflows,
    scheduler,
    log,
  });
  const checkSecrets = new CheckSecrets({ database, key, clock });
  const parts = { ...options, ...work, runs, runners, leases };
  const dispatcher = new Dispatcher({ ...parts, secrets: checkSecrets });
  const triggers = new Triggers({ ...parts, reviews: reviews.store, sources, halts });
  await runs.start();
  started.defer(() => runs.close());
  dispatcher.start();
  started.defer(() => dispatcher.close());
  await triggers.start();
  started.defer(() => triggers.close());
  const forgeTasks = new ForgeTasks({ ...parts, dispatcher, jobLogs });
  const jobArtifacts = new JobArtifacts({
    ...options,
    logs: jobLogs,
    folder: join(folder, ".checks", ARRIVING),
  });
  const workflowArtifacts = new WorkflowArtifacts({
    ...parts,
    jobArtifacts,
    folder: join(folder, ".checks", ARRIVING),
  });
  const jobCaches = new JobCaches({
    ...options,
    store: runs.store,
    folder: join(folder, ".checks"),
  });
  const leftovers = new Leftovers({ ...options, folder: join(folder, ".checks") });
  leftovers.start();
  started.defer(() => leftovers.close());
  const runFigures = new RunFigures(database, clock);
  return {
    runners,
    leases,
    runs,
    dispatcher,
    checkTriggers: triggers,
    jobLogs,
    forgeTasks,
    jobArtifacts,
    workflowArtifacts,
    jobCaches,
    runFigures,
    checkSecrets,
  };
}

async function openUploads(
  { database, scheduler, space, log, folder, uploadBytes: maxBytes }: HostingOptions,
  { repositories, releases }: Pick<Work, "repositories" | "releases">,
  started: AsyncDisposableStack,
): Promise<Uploads> {
  const uploads = await Uploads.open({
    folder: join(folder, ".uploads"),
    database,
    repositories,
    releases,
    space,
    scheduler,
    log,
    maxBytes,
  });
  started.defer(() => uploads.close());
  return uploads;
}

async function openOverlapWatch(
  options: HostingOptions,
  { projects, repositories: { homes }, workspaces }: Pick<
    Work,
    "projects" | "repositories" | "workspaces"
  >,
  started: AsyncDisposableStack,
): Promise<OverlapWatch> {
  const overlapWatch = new OverlapWatch({ ...options, projects, workspaces, homes });
  await overlapWatch.start();
  started.defer(() => overlapWatch.close());
  return overlapWatch;
}

function makeSync(options: HostingOptions, work: Work): ProjectSync {
  const { accounts, identity, tokenKey: key, space, scheduler, syncBytes: maxBytes } = options;
  const clock = () => scheduler.now();
  const quota = work.hourlyQuotas.pushes;
  const parts = { accounts, identity, key, quota, clock, space, scheduler, maxBytes };
  return new ProjectSync({ ...work, ...parts });
}

function makePushes(
  options: HostingOptions,
  work: Work & { readonly git: GitDoor },
): GitPushes {
  const { accounts, identity, space, scheduler } = options;
  const clock = () => scheduler.now();
  return new GitPushes({
    ...work,
    accounts,
    identity,
    space,
    clock,
    quota: work.hourlyQuotas.pushes,
  });
}

/** How often to look for deliveries that were asked for on another node, in milliseconds. */
const WEBHOOK_LOOK = 3000;

interface MovesSurroundings
  extends
    Pick<HostingOptions, "database" | "nodes" | "nodeLinks" | "scheduler" | "log">,
    Pick<Hosting, "projects" | "repositories" | "uploads"> {
  readonly followers: ProjectMovesOptions["followers"];
}

/** Opens what moves projects between nodes. */
async function openMoves(
  options: MovesSurroundings,
  started: AsyncDisposableStack,
): Promise<Pick<Hosting, "arrivingCopies" | "moves" | "restores">> {
  const { repositories: { homes }, nodeLinks } = options;
  const arrivingCopies = await ArrivingCopies.open({ ...options, homes });
  const moves = new ProjectMoves({ ...options, client: nodeLinks?.client ?? null });
  moves.start();
  started.defer(() => moves.close());
  return { arrivingCopies, moves, restores: new ProjectRestores(options) };
}

async function openWebhooks(
  options: HostingOptions,
  projects: Projects,
  started: AsyncDisposableStack,
): Promise<Pick<Hosting, "webhooks" | "webhookSender" | "eventRights" | "callbacks">> {
  const { database, eventLog, scheduler, log, tokenKey: key, webhookConfig } = options;
  const { leadership, nodes } = options.place;
  const clock = () => scheduler.now();
  const webhooks = await Webhooks.open({ database, projects, eventLog, key, clock });
  const { allow_private: allowPrivate, timeout_seconds } = webhookConfig;
  const client = new OutboundClient({ allowPrivate });
  const posts = new SignedPosts({ client, timeLimit: timeout_seconds * 1000 });
  const webhookSender = new WebhookSender({
    database,
    webhooks,
    eventLog,
    posts,
    scheduler,
    log,
    halts: options.halts,
    guard: () => leadership.guard(),
    isLeading: () => leadership.isLeading,
    longestPause: nodes.self === null ? Infinity : WEBHOOK_LOOK,
  });
  await startLeading(options.place, webhookSender, started);
  const eventRights = new EventRights(projects);
  const callbacks = new Callbacks({
    eventLog,
    rights: eventRights,
    identity: options.identity,
    posts,
    allowPrivate,
    scheduler,
    log,
  });
  await startLeading(options.place, callbacks, started);
  return { webhooks, webhookSender, eventRights, callbacks };
}

function openRetention(
  { database, scheduler, log, retentionDays: days, place: { leadership, nodes } }: HostingOptions,
  { projects, repositories }: Pick<Work, "projects" | "repositories">,
  started: AsyncDisposableStack,
): DataRetention {
  const isLeading = () => nodes.self === null || leadership.isLeading;
  const parts = { database, projects, repositories, scheduler, log };
  const retention = new DataRetention({ ...parts, days, isLeading });
  retention.start();
  started.defer(() => retention.stop());
  return retention;
}

/** The longest run of a mirror, in milliseconds. */
const MIRROR_TIME_LIMIT = 15 * 60_000;

/** The longest import from elsewhere, in milliseconds. */
const IMPORT_TIME_LIMIT = 6 * 60 * 60_000;

function openImports(
  options: HostingOptions,
  { repositories, workspaces }: Pick<Work, "repositories" | "workspaces">,
  started: AsyncDisposableStack,
): Imports {
  const { scheduler, space, log, webhookConfig } = options;
  const imports = new Imports({
    repositories,
    workspaces,
    space,
    scheduler,
    log,
    allowPrivate: webhookConfig.allow_private,
    maxBytes: { pack: options.uploadBytes, answer: options.syncBytes },
    timeLimit: IMPORT_TIME_LIMIT,
  });
  started.defer(() => imports.close());
  return imports;
}

function openMirrors(
  options: HostingOptions,
  { projects, repositories, workspaces, git }:
    & Pick<Work, "projects" | "repositories" | "workspaces">
    & Pick<Hosting, "git">,
  started: AsyncDisposableStack,
): Mirrors {
  const { database, scheduler, space, log, folder, tokenKey: key, webhookConfig } = options;
  const mirrors = new Mirrors({
    database,
    projects,
    repositories,
    workspaces,
    git,
    space,
    key,
    scheduler,
    log,
    folder: join(folder, ".mirrors"),
    allowPrivate: webhookConfig.allow_private,
    maxBytes: options.syncBytes,
    maxPackBytes: options.uploadBytes,
    timeLimit: MIRROR_TIME_LIMIT,
  });
  mirrors.start();
  started.defer(() => mirrors.close());
  return mirrors;
}
