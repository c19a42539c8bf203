import { type Database, type Statement, statement, Unchanged } from "../../engines/database/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { DeferredWriter } from "../../kernel/deferred_writer.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** Changes of one transaction. */
const BATCH = 500;

/** Most UTF-16 units of text that wait to be written. */
const MAX_WAITING_UNITS = 8 * 1024 * 1024;

/** Most changes that wait to be written. */
const MAX_WAITING = 50_000;

/** How often the store removes what retention does not keep. */
const TRIM_MILLISECONDS = 60 * 60 * 1000;
/** The same after the start, which waits for no disk; what is not kept is not read. */
const FIRST_TRIM_MILLISECONDS = 60 * 1000;

/** The kind of a message reduced to its id. */
const REDACTED = "redacted";

/** Rows of messages that left an inbox, kept for senders that ask. */
const MAX_GONE = 1000;

/** The store counts this many messages that left an inbox, then deletes the oldest rows. */
const GONE_STEP = 250;

/** Messages that one search for expired ones returns. */
const DUE_PAGE = 500;

/** A stored message of an inbox. */
interface StoredMessage {
  /** Unix microseconds. */
  readonly time: number;
  readonly id: string;
  readonly kind: string;
  readonly sender: string;
  readonly body: string;
  /** Its other properties. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** How far a message got, and who may ask about it. */
interface StoredState {
  readonly state: string;
  readonly senderId: string | null;
  readonly clientId: string | null;
  /** Unix milliseconds, or null. */
  readonly expiresAt: number | null;
}

/** A message with its state. */
type StoredEntry = StoredMessage & StoredState;

/** A stored entry of an inbox; of one that left it, only the id and time. */
export type Restored =
  & StoredState
  & { readonly time: number }
  & (
    | { readonly kind: "message"; readonly message: StoredMessage }
    | { readonly kind: "gone"; readonly id: string }
  );

export interface InboxStoreOptions {
  readonly database: Database;
  /** Milliseconds for which messages are kept; null means forever. */
  readonly age: number | null;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /**
   * Statements that roll back a transaction as `Unchanged` once another node may keep the inboxes;
   * by default, there is no other node.
   */
  readonly guard?: () => readonly Statement[];
}

/** A change that waits to be written. */
interface Waiting {
  readonly statement: Statement;
  readonly units: number;
  /** The id of the message that it redacts. */
  readonly redacts?: string;
  /** The message that it adds. */
  readonly adds?: Added;
}

/** A message that is being stored. */
interface Added {
  readonly accountId: string;
  readonly id: string;
  /** Called when it is on disk, or never will be. */
  readonly settled: (isStored: boolean) => void;
}

/**
 * The inboxes in the database. Messages are written in batches, 20 ms after they arrive; a kill of
 * the process loses at most that. If the disk refuses, changes wait and are tried again. Beyond 8
 * Mi characters, it takes no more messages, which is logged.
 */
export class InboxStore {
  readonly #options: InboxStoreOptions;
  readonly #writes: DeferredWriter;
  readonly #statements: InboxStatements;
  readonly #queue: Waiting[] = [];
  /** How many messages left each inbox since its oldest rows were deleted, by account. */
  readonly #gone = new Map<string, number>();
  /** Why the last batch was refused. */
  #refusal: Unavailable | null = null;
  /** Changes that could not be written. */
  readonly #rejected = new WeakSet<Waiting>();
  /** Ids of messages whose redaction waits to be written. */
  readonly #redacting = new Set<string>();
  #age: number | null;
  #units = 0;
  #lost = 0;
  /** Whether another node keeps the inboxes: nothing more is written here. */
  #isOver = false;
  #cancelTrim: () => void = () => {};
  #trimming: Promise<void> = Promise.resolve();

  constructor(options: InboxStoreOptions) {
    const { database, age, scheduler } = options;
    this.#options = options;
    this.#writes = new DeferredWriter({
      scheduler,
      hasWaiting: () => this.#queue.length > 0,
      writeBatch: () => this.#writeBatch(),
    });
    this.#age = age;
    this.#statements = inboxStatements(database);
    this.#trimIn(FIRST_TRIM_MILLISECONDS);
  }

  /** The time before which retention keeps nothing, in Unix microseconds. */
  get keptSince(): number {
    return this.#age === null ? 0 : (this.#options.scheduler.now() - this.#age) * 1000;
  }

  /** Whether the disk refused the last changes, which are tried again after a pause. */
  get isFailing(): boolean {
    return this.#writes.failing;
  }

  /** Everything that is stored for an account, oldest first. */
  async load(accountId: string): Promise<Restored[]> {
    const rows = await this.#options.database.tables.selectFrom("inbox_messages")
      .select(["time", "id", "kind", "sender", "about", "body"])
      .select(["state", "held", "sender_id", "client_id", "expires_at"])
      .where("account_id", "=", accountId).where("time", ">=", this.keptSince)
      .orderBy("time").execute();
    return rows.map((row) => {
      const { time, id, kind, sender, body, state } = row;
      const { sender_id: senderId, client_id: clientId, expires_at: expiresAt } = row;
      const stored = { time, state, senderId, clientId, expiresAt };
      if (row.held === 0 || kind === REDACTED || this.#redacting.has(id)) {
        return { kind: "gone", id, ...stored };
      }
      const about = JSON.parse(row.about);
      return { kind: "message", message: { time, id, kind, sender, body, about }, ...stored };
    });
  }

  /**
   * Keeps a message.
   *
   * @param settled called once it is on disk; with false if it cannot be stored: its account has
   * ended, or has a message of the same sender with the same id of the sender
   * @returns false if it takes no more: then it does not keep this one
   */
  append(accountId: string, entry: StoredEntry, settled: (isStored: boolean) => void): boolean {
    if (this.#isOver) return false;
    const { time, id, kind, sender, body, state, senderId, clientId, expiresAt } = entry;
    const about = JSON.stringify(entry.about);
    const units = body.length + about.length;
    if (this.#units + units > MAX_WAITING_UNITS || this.#queue.length >= MAX_WAITING) {
      if (this.#lost++ === 0) {
        this.#options.log.error("Messages to agents are not stored: too many wait for the disk");
      }
      return false;
    }
    const now = this.#options.scheduler.now();
    const fixed = [time, id, kind, sender, about, body, state, now];
    const parameters = [...fixed, senderId, clientId, expiresAt, accountId];
    const adds = { accountId, id, settled };
    this.#change({ statement: { ...this.#statements.insertion, parameters }, units, adds });
    return true;
  }

  /** Notes the state of messages that stay in the inbox, by their times. */
  mark(accountId: string, times: readonly number[], state: string): void {
    const now = this.#options.scheduler.now();
    this.#changeEach(times, this.#statements.mark, (time) => [state, now, accountId, time]);
  }

  /** Notes the final state of messages that leave the inbox, by their times, and clears them. */
  release(accountId: string, times: readonly number[], state: string): void {
    const now = this.#options.scheduler.now();
    const { release } = this.#statements;
    this.#changeEach(times, release, (time) => [state, now, "", 0, accountId, time]);
    const gone = (this.#gone.get(accountId) ?? 0) + times.length;
    this.#gone.set(accountId, gone < GONE_STEP ? gone : 0);
    if (gone >= GONE_STEP) this.#deleteGone(accountId);
  }

  /** The copies of a message, one for each receiver. Writes what waits first. */
  async copies(id: string): Promise<Sent[]> {
    await this.flush();
    const rows = await sentMessages(this.#options.database).where("id", "=", id).limit(MAX_GONE)
      .execute();
    return rows.map(sentOf);
  }

  /** Whether an inbox has or had a message of this id, as far as its rows say. */
  async knows(accountId: string, id: string): Promise<boolean> {
    const row = await this.#options.database.tables.selectFrom("inbox_messages").select("id")
      .where("id", "=", id).where("account_id", "=", accountId).executeTakeFirst();
    return row !== undefined;
  }

  /**
   * The message to which its sender gave an id; null if there is none.
   *
   * @throws Unavailable if the disk refuses messages, of which this one may be one
   */
  async sent(senderId: string, clientId: string): Promise<Sent | null> {
    // What was refused is still to be written, though its sender was told that it was refused.
    if (this.#writes.failing) await this.flush();
    const row = await sentMessages(this.#options.database).where("sender_id", "=", senderId)
      .where("client_id", "=", clientId).executeTakeFirst();
    return row === undefined ? null : sentOf(row);
  }

  /**
   * Messages that wait for an agent, and go back to their sender next.
   *
   * @returns the first ones in the order in which they expire
   */
  async expiring(): Promise<Sent[]> {
    const rows = await sentMessages(this.#options.database)
      .where("state", "=", "queued").where("expires_at", "is not", null)
      .orderBy("expires_at").limit(DUE_PAGE).execute();
    return rows.map(sentOf);
  }

  /**
   * Writes what waits now, at once. Call it in the task of the change whose result matters.
   *
   * @throws Unavailable if the disk refuses the write, which is tried again later; or if a change was
   * not kept, or is refused for good
   */
  async flush(): Promise<void> {
    const asked = [...this.#queue];
    const last = asked.at(-1);
    if (this.#isOver) throw isElsewhere();
    while (last !== undefined && this.#queue.includes(last)) {
      if (!await this.#writes.write()) {
        throw this.#refusal ?? new Unavailable("Messages cannot be stored at the moment");
      }
      if (this.#isOver) throw isElsewhere();
    }
    if (asked.some((waiting) => this.#rejected.has(waiting))) {
      throw new Unavailable("The database does not take the message; the log says why");
    }
  }

  /** Reduces a message to its id, in every inbox. */
  redact(id: string): void {
    const update = this.#options.database.tables.updateTable("inbox_messages")
      .set({ kind: REDACTED, sender: "", about: "{}", body: "", held: 0 }).where("id", "=", id);
    this.#redacting.add(id);
    this.#change({ statement: statement(update), units: 0, redacts: id });
  }

  /**
   * Changes how long messages are kept.
   *
   * @param age in milliseconds; null means forever
   */
  retain(age: number | null): void {
    this.#age = age;
    this.#trimIn(0);
  }

  /** Writes the waiting changes. The store must not be used afterwards. */
  async close(): Promise<void> {
    this.#cancelTrim();
    await this.#trimming;
    while (this.#queue.length > 0) {
      if (await this.#writes.write()) continue;
      this.#options.log.error("The last messages to agents are not stored", {
        messages: this.#queue.length,
      });
      break;
    }
    this.#writes.stop();
  }

  #changeEach(
    times: readonly number[],
    compiled: Statement,
    parametersOf: (time: number) => Statement["parameters"],
  ): void {
    for (const time of times) {
      this.#change({ statement: { ...compiled, parameters: parametersOf(time) }, units: 0 });
    }
  }

  /** Deletes the oldest rows of messages that left an inbox. */
  #deleteGone(accountId: string): void {
    const { tables } = this.#options.database;
    const oldest = tables.selectFrom("inbox_messages as kept").select("kept.time")
      .where("kept.account_id", "=", accountId).where("kept.held", "=", 0)
      .orderBy("kept.time", "desc").offset(MAX_GONE - 1).limit(1);
    const removal = tables.deleteFrom("inbox_messages").where("account_id", "=", accountId)
      .where("held", "=", 0).where("time", "<", oldest);
    this.#change({ statement: statement(removal), units: 0 });
  }

  #change(waiting: Waiting): void {
    if (this.#isOver) return;
    this.#queue.push(waiting);
    this.#units += waiting.units;
    this.#writes.schedule();
  }

  async #writeBatch(most = BATCH): Promise<boolean> {
    const { database, log, guard = () => [] } = this.#options;
    const batch = this.#queue.slice(0, most);
    // Somebody flushed before the appointed time.
    if (batch.length === 0) return true;
    const guarding = guard();
    const statements = [...guarding, ...batch.map(({ statement }) => statement)];
    let stored: readonly boolean[] = [];
    try {
      const { changes } = await database.commit({ statements });
      const made = changes.slice(guarding.length);
      stored = await Promise.all(batch.map(({ adds }, index) => this.#isStored(adds, made[index])));
    } catch (error) {
      if (error instanceof Unchanged) return this.#leave();
      if (error instanceof Unavailable) {
        if (!this.#writes.failing) log.error("Messages to agents cannot be stored", { error });
        this.#refusal = error;
        return false;
      }
      // One change that cannot be written must not take the others with it.
      if (batch.length > 1) return await this.#writeEach(batch.length);
      log.error("A change of an inbox is not stored", { error });
      batch.forEach((waiting) => this.#rejected.add(waiting));
    }
    this.#queue.splice(0, batch.length);
    for (const [index, { units, redacts, adds }] of batch.entries()) {
      this.#units -= units;
      if (redacts !== undefined) this.#redacting.delete(redacts);
      adds?.settled(stored[index] ?? false);
    }
    this.#recovered();
    return true;
  }

  async #writeEach(count: number): Promise<boolean> {
    for (let left = count; left > 0; left--) if (!await this.#writeBatch(1)) return false;
    return true;
  }

  /**
   * Whether a written message is in its inbox. It may be there already: when a connection is lost,
   * nobody knows whether the last transaction was written, and it is tried again.
   */
  async #isStored(added: Added | undefined, changes = 0): Promise<boolean> {
    if (added === undefined || changes > 0) return true;
    return await this.knows(added.accountId, added.id);
  }

  /** Leaves everything to another node, which has heard the same messages. */
  #leave(): true {
    this.#isOver = true;
    this.#cancelTrim();
    this.#queue.length = 0;
    return true;
  }

  #recovered(): void {
    if (!this.#writes.failing && this.#lost === 0) return;
    this.#options.log.warn("Messages to agents are stored again", { messagesLost: this.#lost });
    this.#lost = 0;
  }

  #trimIn(milliseconds: number): void {
    this.#cancelTrim();
    this.#cancelTrim = this.#options.scheduler.after(milliseconds, () => {
      this.#trimming = this.#trim();
      this.#trimIn(TRIM_MILLISECONDS);
    });
  }

  async #trim(): Promise<void> {
    const { tables } = this.#options.database;
    if (this.#age === null) return;
    const since = this.keptSince;
    // A write would start the thread that writes, which a server without work does without.
    const old = await tables.selectFrom("inbox_messages").select("id").where("time", "<", since)
      .limit(1).executeTakeFirst().catch(() => undefined);
    if (old === undefined) return;
    const removal = tables.deleteFrom("inbox_messages").where("time", "<", since);
    this.#change({ statement: statement(removal), units: 0 });
  }
}

/** The error for what is not stored because another node keeps the inboxes. */
function isElsewhere(): Unavailable {
  return new Unavailable("The inboxes are on another node now; try again");
}

/** Removes all stored inboxes. */
export async function forgetStoredInboxes(database: Database): Promise<void> {
  await database.commit({ statements: [statement(database.tables.deleteFrom("inbox_messages"))] });
}

/** Statements that change the inboxes. They are compiled once; a use gives its own parameters. */
interface InboxStatements {
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
function inboxStatements({ tables }: Database): InboxStatements {
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

/** A message in one inbox, for its sender. */
export interface Sent {
  /** The receiver's account. */
  readonly accountId: string;
  readonly id: string;
  /** Unix microseconds. */
  readonly time: number;
  readonly state: string;
  /** Unix milliseconds; 0 if that is unknown. */
  readonly stateAt: number;
  readonly senderId: string | null;
  readonly clientId: string | null;
  /** Unix milliseconds, or null. */
  readonly expiresAt: number | null;
}

/** The query for the rows of {@linkcode sentOf}. */
function sentMessages({ tables }: Database) {
  return tables.selectFrom("inbox_messages").select([
    "account_id",
    "id",
    "time",
    "state",
    "state_at",
    "sender_id",
    "client_id",
    "expires_at",
  ]);
}

/** A row as a sender sees it. */
function sentOf(row: {
  readonly account_id: string;
  readonly id: string;
  readonly time: number;
  readonly state: string;
  readonly state_at: number;
  readonly sender_id: string | null;
  readonly client_id: string | null;
  readonly expires_at: number | null;
}): Sent {
  const { account_id: accountId, id, time, state, state_at: stateAt } = row;
  const { sender_id: senderId, client_id: clientId, expires_at: expiresAt } = row;
  return { accountId, id, time, state, stateAt, senderId, clientId, expiresAt };
}
