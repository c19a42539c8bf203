import type { Kysely } from "kysely";
import { createHmac } from "node:crypto";
import {
  type Database,
  DatabaseError,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";

/** What nodes have in common has such a key in the settings table. */
const NODE_SETTINGS = "nodes.";

/** The key of the fingerprints in the settings table. */
const KEY = `${NODE_SETTINGS}keys`;

/** The message whose HMAC under a key tells keys apart, and reveals nothing of them. */
const MESSAGE = "muster key fingerprint";

/** The files with keys of which all nodes need the same. */
export const NODE_KEY_FILES = ["event_key", "network_key", "token_key"] as const;
export type NodeKey = (typeof NODE_KEY_FILES)[number];

/** The keys of a data folder; null for a file that is missing. */
export type KeyFiles = Readonly<Record<NodeKey, string | null>>;

/** What is known of the other nodes' keys. */
export interface KnownKeys {
  /** By the name of the file; null if no node has stored them. */
  readonly fingerprints: Readonly<Record<string, string>> | null;
  /** A node whose data folder has them; null if none is known. */
  readonly holder: string | null;
  /** Whether the event log was sealed with a key. */
  readonly isSealed: boolean;
}

/** Reads what is known of the keys of the nodes of a database. */
export async function readKnownKeys(tables: Kysely<Tables>, self: string): Promise<KnownKeys> {
  const row = await tables.selectFrom("settings").select("value")
    .where("key", "=", KEY).executeTakeFirst();
  const other = row === undefined
    ? undefined
    : await tables.selectFrom("nodes").select("name").where("name", "!=", self)
      .orderBy("name").executeTakeFirst();
  const sealed = await tables.selectFrom("checkpoints").select("name").executeTakeFirst();
  return {
    fingerprints: row === undefined ? null : JSON.parse(row.value),
    holder: other?.name ?? null,
    isSealed: sealed !== undefined,
  };
}

/**
 * Makes sure that a data folder has the keys of the other nodes, or may make its own.
 *
 * @throws DatabaseError if it has other keys, or none
 */
export function requireSameKeys(
  { folder, keys }: { readonly folder: string; readonly keys: KeyFiles },
  { fingerprints, holder, isSealed }: KnownKeys,
): void {
  const from = holder === null
    ? "the data folder that had them, or from a backup of it"
    : `the data folder of the node "${holder}"`;
  const missing = NODE_KEY_FILES.filter((name) => keys[name] === null);
  const isUsed = fingerprints !== null || (isSealed && keys.event_key === null);
  if (isUsed && missing.length > 0) {
    throw new DatabaseError(
      `The data folder "${folder}" lacks ${filesOf(missing)}, of which all nodes need the same: ` +
        `copy ${itOrThem(missing)} from ${from}`,
    );
  }
  if (fingerprints === null) return;
  const differing = NODE_KEY_FILES.filter((name) => {
    const key = keys[name];
    return key !== null && fingerprints[name] !== fingerprintOf(key);
  });
  if (differing.length === 0) return;
  throw new DatabaseError(
    `In the data folder "${folder}", ${filesOf(differing)} ${
      differing.length === 1 ? "differs" : "differ"
    } from ${differing.length === 1 ? "that" : "those"} of the other nodes: ` +
      `copy ${itOrThem(differing)} from ${from}`,
  );
}

/**
 * Stores the fingerprints of this node's keys, if it is the first.
 *
 * @throws DatabaseError if another node was, and has other keys
 */
export async function agreeOnKeys(
  database: Database,
  { folder, self, keys }: {
    readonly folder: string;
    readonly self: string;
    readonly keys: Readonly<Record<NodeKey, string>>;
  },
): Promise<void> {
  const { tables } = database;
  const known = await readKnownKeys(tables, self);
  if (known.fingerprints === null) {
    const value = JSON.stringify(
      Object.fromEntries(NODE_KEY_FILES.map((name) => [name, fingerprintOf(keys[name])])),
    );
    const storing = tables.insertInto("settings").values({ key: KEY, value })
      .onConflict((conflict) => conflict.column("key").doNothing());
    await database.commit({ statements: [statement(storing)] });
  }
  requireSameKeys({ folder, keys }, await readKnownKeys(tables, self));
}

function fingerprintOf(key: string): string {
  return createHmac("sha256", key).update(MESSAGE).digest("hex");
}

function filesOf(names: readonly NodeKey[]): string {
  const list = new Intl.ListFormat("en").format(names.map((name) => `"${name}"`));
  return names.length === 1 ? `the file ${list}` : `the files ${list}`;
}

function itOrThem(names: readonly NodeKey[]): string {
  return names.length === 1 ? "it" : "them";
}

/** Removes what nodes had in common: a server that is alone changes its keys as it likes. */
export async function forgetNodeSettings(database: Database): Promise<void> {
  const { tables } = database;
  const left = await tables.selectFrom("settings").select("key")
    .where("key", "like", `${NODE_SETTINGS}%`).executeTakeFirst();
  if (left === undefined) return;
  const removal = tables.deleteFrom("settings").where("key", "like", `${NODE_SETTINGS}%`);
  await database.commit({ statements: [statement(removal)] });
}
