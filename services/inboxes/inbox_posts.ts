import type { Selectable } from "kysely";
import type { Roster } from "../agents/mod.ts";
import { type Database, type Directory, statement, type Tables } from "../database/mod.ts";
import type { Notification } from "./inboxes.ts";

/** Rows that one statement inserts. */
const AT_ONCE = 100;

type Row = Selectable<Tables["inbox_posts"]>;

/** Entries that other nodes have written, until the node that keeps the inboxes takes them. */
export class InboxPosts implements Directory {
  readonly tables = ["inbox_posts"] as const;
  readonly #database: Database;
  #onPosted: () => void = () => {};

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(database: Database): Promise<InboxPosts> {
    const posts = new InboxPosts(database);
    await database.keepCurrent(posts);
    return posts;
  }

  /** It holds no rows: who takes them reads them. */
  load(): Promise<void> {
    return Promise.resolve();
  }

  announce(): void {
    this.#onPosted();
  }

  /** Sets what is called when another node has posted something. */
  onPosted(listener: () => void): void {
    this.#onPosted = listener;
  }

  /**
   * Posts entries. Resolves when they are on disk.
   *
   * @throws Unavailable
   */
  async post(entries: readonly Notification[]): Promise<void> {
    const { tables } = this.#database;
    for (let at = 0; at < entries.length; at += AT_ONCE) {
      const rows = entries.slice(at, at + AT_ONCE).map(({ agent, time, entry }) => ({
        account_id: agent.id,
        id: entry.id,
        time,
        entry: JSON.stringify(entry),
      }));
      const insertion = tables.insertInto("inbox_posts").values(rows)
        .onConflict((conflict) => conflict.columns(["account_id", "id"]).doNothing());
      await this.#database.commit({ statements: [statement(insertion)] });
    }
  }

  /** The first entries that wait. */
  async waiting(limit: number): Promise<readonly Row[]> {
    return await this.#database.tables.selectFrom("inbox_posts").selectAll()
      .orderBy("time").orderBy("id").limit(limit).execute();
  }

  /** Removes entries that are in the inboxes. */
  async remove(rows: readonly Row[]): Promise<void> {
    const { tables } = this.#database;
    await this.#database.commit({
      statements: rows.map(({ account_id, id }) =>
        statement(
          tables.deleteFrom("inbox_posts").where("account_id", "=", account_id)
            .where("id", "=", id),
        )
      ),
    });
  }
}

/** The entry of a row; null if its agent is gone. */
export function notificationOf(
  { account_id: accountId, time, entry }: Row,
  roster: Pick<Roster, "get">,
): Notification | null {
  const agent = roster.get(accountId);
  return agent === null ? null : { agent, time, entry: JSON.parse(entry) };
}
