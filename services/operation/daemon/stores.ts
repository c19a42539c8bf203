import { SPEAKER_TAG } from "../../chat/bridge/mod.ts";
import { forgetStoredInboxes } from "../../chat/inboxes/mod.ts";
import { type Config, DataFolder } from "../config/mod.ts";
import { type Database, writerPart } from "../../engines/database/mod.ts";
import { type EventServices, openEvents } from "../../engines/events/mod.ts";
import { FreeSpace } from "../../kernel/files.ts";
import { archivePart, HistoryArchive, type Retention } from "../../chat/irc_server/history/mod.ts";
import { type IdentityServices, openIdentity, openKeyFile } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import {
  Draining,
  Leadership,
  type NodeLinks,
  Nodes,
  openNodeLinks,
  watchCurrency,
} from "../../cluster/nodes/mod.ts";
import { type Scheduler, systemScheduler } from "../../kernel/scheduler.ts";
import { SharedThread } from "../../kernel/threads/mod.ts";
import { SigningKeys } from "../../people/signing_keys/mod.ts";
import { VERSION } from "../../kernel/version.ts";
import { openAppDatabase } from "./app_database.ts";
import { startLeading } from "./leading.ts";
import { openNodeKeys, settleNodeKeys } from "./node_keys.ts";
import type { DaemonOptions } from "./options.ts";
import { requireWhole } from "./whole_folder.ts";

/** What shares a thread: the writer of the app database, and the file of the history. */
const STORAGE_PARTS = { database: writerPart, history: archivePart };

/** Also what the worker serves. */
export type StorageParts = typeof STORAGE_PARTS;

/** Starts the worker of the parts. */
export function startStorageWorker(): Worker {
  const url = new URL("./storage_worker.ts", import.meta.url);
  return new Worker(url, { type: "module", name: "storage" });
}

/** The data folder, the databases and identity, on which all other services depend. */
export interface Stores {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly log: Log;
  readonly scheduler: Scheduler;
  /** The thread of the database and the history. */
  readonly thread: SharedThread<"database" | "history">;
  readonly database: Database;
  /** The servers that share the database. */
  readonly nodes: Nodes;
  /** For requests from and to them; null if this one is alone. */
  readonly nodeLinks: NodeLinks | null;
  /** Work that one of them does. It begins once every part has started. */
  readonly leadership: Leadership;
  /** Whether this one takes part in that. */
  readonly draining: Draining;
  readonly events: EventServices;
  readonly identity: IdentityServices;
  readonly signingKeys: SigningKeys;
  /** The secret behind users' visible hosts, stored so that a ban on one survives a restart. */
  readonly cloakKey: Uint8Array;
  /** The IRC history; null if it is not stored. */
  readonly history: HistoryArchive | null;
  /** Whether the disks have room for new work. */
  readonly space: FreeSpace;
}

/**
 * Locks the data folder and opens its contents. Adds each part to the stack that closes it.
 *
 * @throws DataFolderError, DatabaseError, SecretFileError if the folder cannot be used
 */
export async function openStores(
  { config, log, pinnedToken, scheduler = systemScheduler, passwordCosts }: DaemonOptions,
  started: AsyncDisposableStack,
): Promise<Stores> {
  const folder = DataFolder.open(config.data_dir);
  started.defer(() => folder.close());
  await requireWhole(folder, config);
  const isKept = config.irc.mode === "embedded" && config.irc.history.persist;
  const thread = new SharedThread(STORAGE_PARTS);
  const space = new FreeSpace({
    folders: [folder.path, projectsFolderOf({ config, folder })],
    least: config.limits.free_bytes,
    clock: scheduler.now,
  });
  const opening = isKept
    ? openHistory({ config, folder, scheduler, log, thread, space }, started)
    : null;
  const { database, cloakKey } = await openDatabase({ config, folder, thread, scheduler }, started);
  const events = await openEvents({
    database,
    scheduler,
    log,
    version: VERSION,
    maxEvents: config.events.max_events,
    maxDays: config.events.max_days,
  });
  started.defer(() => events.close());
  const leadership = new Leadership({ database, log });
  const nodes = await Nodes.open({ database, config: config.node, version: VERSION, scheduler });
  const draining = new Draining({ nodes, leadership, scheduler, log });
  await startLeading({ nodes, leadership }, events.retention, started);
  const identity = await openIdentity({
    database,
    pinnedToken,
    scheduler,
    log,
    folder: folder.path,
    peers: nodes.self === null ? null : nodes,
    bridgeNick: config.bridge.nick,
    isNode: nodes.self !== null,
    adminsEnabled: config.admins.enabled,
    anyLoopbackHost: config.admins.any_loopback_host,
    ...loginLimits(config),
    ...(passwordCosts === undefined ? {} : { passwordCosts }),
  });
  started.defer(() => identity.close());
  const { accounts } = identity;
  const signingKeys = await SigningKeys.open({ database, accounts, clock: scheduler.now });
  const nodeLinks = await linkNodes({ nodes, identity, database, scheduler }, started);
  if (!config.irc.history.persist) await forgetStoredInboxes(database);
  const history = await opening;
  if (history !== null) await forgetStrangers(history, identity);
  return {
    config,
    folder,
    log,
    scheduler,
    thread,
    database,
    nodes,
    nodeLinks,
    leadership,
    draining,
    events,
    identity,
    signingKeys,
    cloakKey,
    history,
    space,
  };
}

async function openDatabase(
  { config, folder, thread, scheduler }: Pick<
    Stores,
    "config" | "folder" | "thread" | "scheduler"
  >,
  started: AsyncDisposableStack,
): Promise<Pick<Stores, "database" | "cloakKey">> {
  const nodeKeys = config.node.name === "" ? null : await openNodeKeys(config, folder);
  const [journalKey, cloak] = await Promise.all([
    nodeKeys?.event_key ?? openKeyFile(folder.file("event_key")),
    openKeyFile(folder.file("cloak_key")),
  ]);
  const database = await openAppDatabase({ config, folder, journalKey, thread, scheduler });
  started.defer(() => database.close());
  await settleNodeKeys({ database, folder, node: config.node.name }, nodeKeys);
  return { database, cloakKey: new TextEncoder().encode(cloak.key) };
}

/** Opens the ways to other nodes. Everybody is cut off while this one is out of touch with them. */
async function linkNodes(
  { nodes, identity: { tokenKey, revocations }, database, scheduler }: Pick<
    Stores,
    "nodes" | "identity" | "database" | "scheduler"
  >,
  started: AsyncDisposableStack,
): Promise<NodeLinks | null> {
  const nodeLinks = await openNodeLinks({ nodes, tokenKey, clock: () => scheduler.now() });
  if (nodeLinks !== null) database.peers?.use(nodeLinks.notes);
  started.defer(() => nodeLinks?.client.close());
  started.defer(() => nodeLinks?.notes.close());
  const onLost = () => revocations.announce({ kind: "everything" });
  started.defer(watchCurrency({ database, scheduler, onLost }));
  return nodeLinks;
}

function openHistory(
  { config, folder, scheduler, log, thread, space }: Pick<
    Stores,
    "config" | "folder" | "scheduler" | "log" | "thread" | "space"
  >,
  started: AsyncDisposableStack,
): Promise<HistoryArchive> {
  const path = folder.file("history.db");
  const retention = retentionOf(config);
  const opening = HistoryArchive.open({
    path,
    retention,
    speakerTag: SPEAKER_TAG,
    scheduler,
    log,
    thread,
    space,
  });
  const opened = opening.catch(() => null);
  started.defer(async () => await (await opened)?.close());
  return opening;
}

async function forgetStrangers(
  history: HistoryArchive,
  { accounts }: IdentityServices,
): Promise<void> {
  await history.forgetStrangers((account) => {
    const found = accounts.find(account);
    return found === null || found.revokedAt !== null ? null : found.createdAt;
  });
}

/** Where the repositories of projects are. */
export function projectsFolderOf({ config, folder }: Pick<Stores, "config" | "folder">): string {
  return config.projects.dir || folder.file("projects");
}

/** How much of the IRC history is kept on disk. */
export function retentionOf({ irc: { history } }: Config): Retention {
  return {
    age: history.max_days === 0 ? null : history.max_days * 24 * 60 * 60 * 1000,
    records: history.max_messages || null,
    bytes: history.max_bytes || null,
  };
}

/** The limits of wrong passwords and of logins to the web pages, and their window. */
export function loginLimits({ limits }: Config): { attempts: number; window: number } {
  return { attempts: limits.login_attempts, window: limits.login_window_minutes * 60_000 };
}
