import type { Config, DataFolder } from "../config/mod.ts";
import { type Database, readPostgres, readPostgresSettings } from "../../engines/database/mod.ts";
import { type KeyFile, openKeyFile, readKeyFile } from "../../people/identity/mod.ts";
import {
  agreeOnKeys,
  forgetNodeSettings,
  type NodeKey,
  readKnownKeys,
  requireSameKeys,
} from "../../cluster/nodes/mod.ts";

/** The keys that all nodes have in common. */
type NodeKeyFiles = Readonly<Record<NodeKey, KeyFile>>;

/**
 * Reads the keys of which all nodes need the same, and makes those of the first node.
 *
 * @throws DatabaseError if the data folder lacks the keys of the other nodes, or has others
 * @throws SecretFileError if a file cannot be used
 */
export async function openNodeKeys(
  { database, node }: Pick<Config, "database" | "node">,
  folder: DataFolder,
): Promise<NodeKeyFiles> {
  const read = (name: NodeKey) => readKeyFile(folder.file(name));
  const keys = {
    event_key: await read("event_key"),
    network_key: await read("network_key"),
    token_key: await read("token_key"),
  };
  const settings = await readPostgresSettings(database);
  const known = settings === null ? null : await readPostgres(
    settings,
    async ({ version, tables }) => version === 0 ? null : await readKnownKeys(tables, node.name),
  );
  if (known !== null) requireSameKeys({ folder: folder.path, keys }, known);
  const open = (name: NodeKey) => openKeyFile(folder.file(name));
  return {
    event_key: await open("event_key"),
    network_key: await open("network_key"),
    token_key: await open("token_key"),
  };
}

/**
 * Makes sure that the nodes of a database go on with the same keys.
 *
 * @param files null for a server that is alone
 * @throws DatabaseError if another node has just stored other keys
 */
export async function settleNodeKeys(
  { database, folder, node }: {
    readonly database: Database;
    readonly folder: DataFolder;
    readonly node: string;
  },
  files: NodeKeyFiles | null,
): Promise<void> {
  if (files === null) return await forgetNodeSettings(database);
  const keys = {
    event_key: files.event_key.key,
    network_key: files.network_key.key,
    token_key: files.token_key.key,
  };
  await agreeOnKeys(database, { folder: folder.path, self: node, keys });
}
