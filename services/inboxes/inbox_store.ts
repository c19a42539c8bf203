import { BatchedWrites, type Database, type Statement, statement } from "../database/mod.ts";
import { Unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";

/** Changes of one transaction. */
const BATCH = 500;

/** Most UTF-16 units of text that wait to be written. */
const MAX_WAITING_UNITS = 8 * 1024 * 1024;

/** Most changes that wait to be written. */
const MAX_WAITING = 50_000;

/** How often the store removes what retention does not keep. */
const TRIM_MILLISECONDS = 60 * 60 * 1000;

/** The kind of a message reduced to its id. */
const REDACTED = "redacted";

/** A stored message of an inbox. */
export interface StoredMessage {
  /** Unix microseconds. */
  readonly time: number;
  readonly id: string;
  readonly kind: string;
  readonly sender: string;
  readonly body: string;
  /** Its other properties. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** A stored entry of an inbox; of a redacted message, only the id and time. */
export type Restored =
  | { readonly kind: "message"; readonly message: StoredMessage }
  | { readonly kind: "redacted"; readonly id: string; readonly time: number };

export interface InboxStoreOptions {
  readonly database: Database;
  /** Milliseconds for which messages are kept; null means forever. */
  readonly age: number | null;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** A change that waits to be written. */
interface Waiting {
  readonly statement: Statement;
  readonly units: number;
  /** The id of the message that it redacts. */
  readonly redacts?: string;
}

/**
 * The inboxes in the database. Messages are written in batches, 20 ms after they arrive; a kill of
 * the process loses at most that. If the disk refuses, changes wait and are tried again. Beyond 8
 * Mi characters, messages stay only in memory, which is logged.
 */
export class InboxStore {
  readonly #options: InboxStoreOptions;
  readonly #writes: BatchedWrites;
  readonly #insertion: Statement;
  readonly #queue: Waiting[] = [];
  /** The time before which an agent's inbox no longer has messages, by account. */
  readonly #evicted = new Map<string, number>();
  /** Ids of messages whose redaction waits to be written. */
  readonly #redacting = new Set<string>();
  #age: number | null;
  #units = 0;
  #lost = 0;
  #cancelTrim: () => void = () => {};

  constructor(options: InboxStoreOptions) {
    const { database, age, scheduler } = options;
    this.#options = options;
    this.#writes = new BatchedWrites({
      scheduler,
      hasWaiting: () => this.#queue.length > 0,
      writeBatch: () => this.#writeBatch(),
    });
    this.#age = age;
    this.#insertion = insertionOf(database);
    this.#trim();
  }

  /** The time before which retention keeps nothing, in Unix microseconds. */
  get keptSince(): number {
    return this.#age === null ? 0 : (this.#options.scheduler.now() - this.#age) * 1000;
  }

  /** Everything that is stored for an account, oldest first. */
  async load(accountId: string): Promise<Restored[]> {
    const rows = await this.#options.database.tables.selectFrom("inbox_messages")
      .select(["time", "id", "kind", "sender", "about", "body"])
      .where("account_id", "=", accountId).where("time", ">=", this.keptSince)
      .orderBy("time").execute();
    return rows.map(({ about, ...row }) => {
      const { time, id } = row;
      if (row.kind === REDACTED || this.#redacting.has(id)) return { kind: "redacted", id, time };
      return { kind: "message", message: { ...row, about: JSON.parse(about) } };
    });
  }

  /**
   * Keeps a message.
   *
   * @param oldest the time of the oldest message that the inbox still holds, in Unix microseconds;
   * null if no message was dropped for this one
   */
  append(accountId: string, message: StoredMessage, oldest: number | null): void {
    const { time, id, kind, sender, body } = message;
    const about = JSON.stringify(message.about);
    const units = body.length + about.length;
    if (this.#units + units > MAX_WAITING_UNITS || this.#queue.length >= MAX_WAITING) {
      if (this.#lost++ === 0) {
        this.#options.log.error("Messages to agents are not stored: the disk takes no more");
      }
      return;
    }
    const parameters = [time, id, kind, sender, about, body, accountId];
    if (oldest !== null) this.#evicted.set(accountId, oldest);
    this.#change({ statement: { ...this.#insertion, parameters }, units });
  }

  /**
   * Writes what waits now, at once.
   *
   * @throws Unavailable if the disk refuses the write; it is tried again later
   */
  async flush(): Promise<void> {
    const last = this.#queue.at(-1);
    while (last !== undefined && this.#queue.includes(last)) {
      if (!await this.#writes.write()) throw new Unavailable("The disk takes no messages");
    }
  }

  /** Reduces a message to its id, in every inbox. */
  redact(id: string): void {
    const update = this.#options.database.tables.updateTable("inbox_messages")
      .set({ kind: REDACTED, sender: "", about: "{}", body: "" }).where("id", "=", id);
    this.#redacting.add(id);
    this.#change({ statement: statement(update), units: 0, redacts: id });
  }

  /** Removes the rows of these times. */
  remove(accountId: string, times: readonly number[]): void {
    if (times.length === 0) return;
    const removal = this.#options.database.tables.deleteFrom("inbox_messages")
      .where("account_id", "=", accountId).where("time", "in", times);
    this.#change({ statement: statement(removal), units: 0 });
  }

  /**
   * Changes how long messages are kept.
   *
   * @param age in milliseconds; null means forever
   */
  retain(age: number | null): void {
    this.#age = age;
    this.#trim();
  }

  /** Writes the waiting changes. The store must not be used afterwards. */
  async close(): Promise<void> {
    this.#cancelTrim();
    while (this.#queue.length > 0) {
      if (await this.#writes.write()) continue;
      this.#options.log.error("The last messages to agents are not stored", {
        messages: this.#queue.length,
      });
      break;
    }
    this.#writes.stop();
  }

  #change(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.#units += waiting.units;
    this.#writes.schedule();
  }

  async #writeBatch(): Promise<boolean> {
    const { database, log } = this.#options;
    const batch = this.#queue.slice(0, BATCH);
    const evicted = [...this.#evicted];
    this.#evicted.clear();
    const statements = [
      ...batch.map(({ statement }) => statement),
      ...evicted.map(([accountId, oldest]) => this.#eviction(accountId, oldest)),
    ];
    try {
      await database.commit({ statements });
    } catch (error) {
      if (error instanceof Unavailable) {
        for (const [id, oldest] of evicted) {
          if (!this.#evicted.has(id)) this.#evicted.set(id, oldest);
        }
        if (!this.#writes.failing) log.error("Messages to agents cannot be stored", { error });
        return false;
      }
      log.error("Messages to agents are not stored", { error, messages: batch.length });
    }
    this.#queue.splice(0, batch.length);
    for (const { units, redacts } of batch) {
      this.#units -= units;
      if (redacts !== undefined) this.#redacting.delete(redacts);
    }
    this.#recovered();
    return true;
  }

  #recovered(): void {
    if (!this.#writes.failing && this.#lost === 0) return;
    this.#options.log.warn("Messages to agents are stored again", { messagesLost: this.#lost });
    this.#lost = 0;
  }

  #eviction(accountId: string, oldest: number): Statement {
    const removal = this.#options.database.tables.deleteFrom("inbox_messages")
      .where("account_id", "=", accountId).where("time", "<", oldest);
    return statement(removal);
  }

  #trim(): void {
    const { database, scheduler } = this.#options;
    this.#cancelTrim();
    this.#cancelTrim = scheduler.after(TRIM_MILLISECONDS, () => this.#trim());
    if (this.#age === null) return;
    const removal = database.tables.deleteFrom("inbox_messages")
      .where("time", "<", this.keptSince);
    this.#change({ statement: statement(removal), units: 0 });
  }
}

/** Removes all stored inboxes. */
export async function forgetStoredInboxes(database: Database): Promise<void> {
  await database.commit({ statements: [statement(database.tables.deleteFrom("inbox_messages"))] });
}

/**
 * The statement that adds a message, if its account exists and is not revoked. It is compiled once;
 * its parameters are the time, id, kind, sender, other properties, body and account.
 */
function insertionOf({ tables }: Database): Statement {
  const query = tables.insertInto("inbox_messages")
    .columns(["account_id", "time", "id", "kind", "sender", "about", "body"])
    .expression((builder) =>
      builder.selectFrom("accounts").select([
        "accounts.id as account_id",
        builder.cast<number>(builder.val(0), "bigint").as("time"),
        ...(["id", "kind", "sender", "about", "body"] as const).map((column) =>
          builder.cast<string>(builder.val(""), "text").as(column)
        ),
      ]).where("accounts.id", "=", "").where("accounts.revoked_at", "is", null)
    )
    .onConflict((conflict) => conflict.columns(["account_id", "time"]).doNothing());
  return statement(query);
}
