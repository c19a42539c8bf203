import { type Database, type Statement, statement } from "../database/mod.ts";

/** Statements that change the inboxes. They are compiled once; a use gives its own parameters. */
export interface InboxStatements {
  /**
   * Adds a message, if its account exists and is not revoked, and has none of the same sender with
   * the sender's id of it. Parameters: the time, id, kind,
   * sender, other properties, body, state, the state's time, sender's account, sender's id of the
   * message, expiry, and account.
   */
  readonly insertion: Statement;
  /** Changes a state. Parameters: the state, its time, the account, the message's time. */
  readonly mark: Statement;
  /**
   * The same for a message that leaves the inbox. Parameters: the state, its time, the empty body,
   * 0, the account, the message's time.
   */
  readonly release: Statement;
}

/** Compiles the statements for a database. */
export function inboxStatements({ tables }: Database): InboxStatements {
  const texts = ["id", "kind", "sender", "about", "body", "state"] as const;
  const insertion = tables.insertInto("inbox_messages")
    .columns(["account_id", "time", ...texts, "state_at", "sender_id", "client_id", "expires_at"])
    .expression((builder) => {
      const number = (name: string) => builder.cast<number>(builder.val(0), "bigint").as(name);
      const text = (name: string) => builder.cast<string>(builder.val(""), "text").as(name);
      return builder.selectFrom("accounts").select([
        "accounts.id as account_id",
        number("time"),
        ...texts.map(text),
        number("state_at"),
        text("sender_id"),
        text("client_id"),
        number("expires_at"),
      ]).where("accounts.id", "=", "").where("accounts.revoked_at", "is", null);
    })
    .onConflict((conflict) => conflict.doNothing());
  const mark = tables.updateTable("inbox_messages").set({ state: "", state_at: 0 })
    .where("account_id", "=", "").where("time", "=", 0);
  const release = tables.updateTable("inbox_messages")
    .set({ state: "", state_at: 0, body: "", held: 0 })
    .where("account_id", "=", "").where("time", "=", 0);
  return {
    insertion: statement(insertion),
    mark: statement(mark),
    release: statement(release),
  };
}
