import { type Database, statement } from "../database/mod.ts";

/** What nodes have in common has such a key in the settings table. */
export const NODE_SETTINGS = "nodes.";

/** Removes what nodes had in common: a server that is alone changes its keys as it likes. */
export async function forgetNodeSettings(database: Database): Promise<void> {
  const { tables } = database;
  const left = await tables.selectFrom("settings").select("key")
    .where("key", "like", `${NODE_SETTINGS}%`).executeTakeFirst();
  if (left === undefined) return;
  const removal = tables.deleteFrom("settings").where("key", "like", `${NODE_SETTINGS}%`);
  await database.commit({ statements: [statement(removal)] });
}
