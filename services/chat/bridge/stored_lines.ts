import { type Compilable, sql } from "kysely";
import { type Database, statement, type ToldRow, Unchanged } from "../../engines/database/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { isLineOf } from "./protocol.ts";
import type { ChannelText, HeardAs } from "./types.ts";

/** A line of a channel, as one of several nodes has heard it. */
export interface NewLine {
  /** The channel's folded name. */
  readonly channel: string;
  /** By what the nodes know that they have heard the same line; the same text can come again. */
  readonly mark: string;
  /** When the IRC server accepted it, in Unix milliseconds. */
  readonly time: number;
  readonly message: ChannelText;
  readonly as: LineKind;
}

/** How a line was heard. */
export interface LineKind extends HeardAs {
  /** Whether it was read back from the network's history: nobody acts on it any more. */
  readonly isPast: boolean;
}

/** A line that all nodes have, with its place among all lines and its timestamp. */
export interface StoredLine extends Pick<NewLine, "channel" | "mark" | "message" | "as"> {
  /** Counts the lines of all channels. */
  readonly seq: number;
  /** Since 1970; strictly increasing within the channel. */
  readonly microseconds: number;
}

/** What becomes of lines that are added. */
export interface Adding {
  /** Resolves when they are stored. Rejects with Unavailable if the database cannot be written. */
  readonly stored: Promise<void>;
  /** Resolves when all nodes have them. Rejects with Unavailable, also if it takes long. */
  readonly confirmed: Promise<void>;
}

/** Lines that a node has stored. */
export interface AddedLines {
  readonly lines: readonly StoredLine[];
  /** Resolves when all nodes have them. Rejects with Unavailable if that takes long. */
  confirmed(): Promise<void>;
}

/** One order of the lines of all channels, for all nodes. */
export interface LineStore {
  /** The place of the newest line; 0 without one. */
  newest(): Promise<number>;
  /**
   * Adds lines in their order, each unless it is there: another node has added a line with its mark
   * after `seen` for which this one has no other line, or one with its id.
   *
   * @param seen the place up to which this node knows all lines
   */
  add(lines: readonly NewLine[], seen: number): Adding;
  /**
   * Resolves when all nodes have what is stored.
   *
   * @throws Unavailable if the database cannot be used, or that takes long
   */
  confirm(): Promise<void>;
  /**
   * Calls a listener when any node has stored lines. The nodes wait for it.
   *
   * @param listener gets the lines, or null if it must read them; then, it is called again if it
   * rejects
   * @returns a function that ends the subscription
   */
  onAdded(listener: (added: AddedLines | null) => Promise<void>): () => void;
  /** The first lines after a place. */
  after(seq: number, limit: number): Promise<StoredLine[]>;
  /** The newest lines of a channel up to a place, oldest first. */
  newestOf(channel: string, upTo: number, limit: number): Promise<StoredLine[]>;
  /** The place of the oldest line of a channel; null without one. */
  oldestOf(channel: string): Promise<number | null>;
  /**
   * Takes a line that tells the nodes to do something: one of them does it.
   *
   * @returns false if another node has taken the line, or nobody has heard it
   * @throws Unavailable if the database cannot be written
   */
  take(channel: string, id: string): Promise<boolean>;
  /**
   * Removes the lines of a message.
   *
   * @throws Unavailable if the database cannot be written
   */
  remove(channel: string, id: string): Promise<void>;
  /**
   * Removes the oldest lines of each channel that has more, and those of channels that no bridge
   * is in.
   *
   * @throws Unavailable if the database cannot be written
   */
  trim(kept: number): Promise<void>;
}

/** The bits of `heard_as`. */
const BITS = { isOurs: 1, isQuiet: 2, isNotice: 4, isBot: 8, isPast: 16 } as const;

/** The highest bit of `heard_as`: a node has taken the line. */
const TAKEN = 32;

/**
 * The newest lines of all channels in the database that nodes share. Its transactions happen one
 * after another, so that all nodes see one order and one timestamp for each line.
 */
export class StoredLines implements LineStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async newest(): Promise<number> {
    const row = await this.#database.tables.selectFrom("channel_lines")
      .select(({ fn }) => fn.max("seq").as("seq")).executeTakeFirst();
    return row?.seq ?? 0;
  }

  add(lines: readonly NewLine[], seen: number): Adding {
    const { promise: stored, resolve, reject } = Promise.withResolvers<void>();
    const statements = numbered(lines).map((some) =>
      statement(this.#adding(some, seen), { committed: () => resolve() })
    );
    const confirmed = this.#database.commit({ statements }).then(() => {});
    confirmed.catch(reject);
    stored.catch(() => {});
    return { stored, confirmed };
  }

  async confirm(): Promise<void> {
    await this.#database.peers?.confirm();
  }

  onAdded(listener: (added: AddedLines | null) => Promise<void>): () => void {
    return this.#database.onTold((told) =>
      listener(
        told === null ? null : { lines: told.rows.map(lineOf), confirmed: () => told.confirmed() },
      )
    );
  }

  async after(seq: number, limit: number): Promise<StoredLine[]> {
    const rows = await this.#rows().where("seq", ">", seq).orderBy("seq").limit(limit).execute();
    return rows.map(lineOf);
  }

  async oldestOf(channel: string): Promise<number | null> {
    const row = await this.#database.tables.selectFrom("channel_lines")
      .select(({ fn }) => fn.min("seq").as("seq")).where("channel", "=", channel)
      .executeTakeFirst();
    return row?.seq ?? null;
  }

  async newestOf(channel: string, upTo: number, limit: number): Promise<StoredLine[]> {
    const rows = await this.#rows().where("channel", "=", channel).where("seq", "<=", upTo)
      .orderBy("microseconds", "desc").limit(limit).execute();
    return rows.reverse().map(lineOf);
  }

  async take(channel: string, id: string): Promise<boolean> {
    const taking = this.#database.tables.updateTable("channel_lines")
      .set((builder) => ({ heard_as: builder("heard_as", "+", TAKEN) }))
      .where("channel", "=", foldCase(channel)).where("id", "=", id)
      .where("heard_as", "<", TAKEN);
    try {
      await this.#database.commit({ statements: [statement(taking, { mustChange: true })] });
      return true;
    } catch (error) {
      if (error instanceof Unchanged) return false;
      throw error;
    }
  }

  async remove(channel: string, id: string): Promise<void> {
    const folded = foldCase(channel);
    const { tables } = this.#database;
    const rows = await tables.selectFrom("channel_lines").select("id")
      .where("channel", "=", folded).execute();
    const meant = rows.map((row) => row.id).filter((one) => isLineOf(id, one));
    if (meant.length === 0) return;
    const removal = tables.deleteFrom("channel_lines")
      .where("channel", "=", folded).where("id", "in", meant);
    await this.#database.commit({ statements: [statement(removal)] });
  }

  async trim(kept: number): Promise<void> {
    const { tables } = this.#database;
    const counted = await tables.selectFrom("channel_lines")
      .leftJoin("bridge_channels", "bridge_channels.name_folded", "channel_lines.channel")
      .select(({ fn }) => ["channel", fn.countAll<number>().as("count"), fn.max("name").as("name")])
      .groupBy("channel").execute();
    const surplus = counted.map((row) => ({ ...row, limit: row.name === null ? 0 : kept }))
      .filter(({ count, limit }) => Number(count) > limit);
    const statements = [];
    for (const { channel, limit } of surplus) {
      const removal = tables.deleteFrom("channel_lines").where("channel", "=", channel);
      const [first] = await tables.selectFrom("channel_lines").select("microseconds")
        .where("channel", "=", channel).orderBy("microseconds", "desc")
        .offset(Math.max(limit - 1, 0)).limit(1).execute();
      if (first === undefined) continue;
      const { microseconds } = first;
      statements.push(
        statement(removal.where("microseconds", limit === 0 ? "<=" : "<", microseconds)),
      );
    }
    if (statements.length > 0) await this.#database.commit({ statements });
  }

  #rows() {
    return this.#database.tables.selectFrom("channel_lines").selectAll();
  }

  /**
   * Adds lines that are not there, in their order. A line has its own time, or the first microsecond
   * after the line before it in its channel.
   */
  #adding(lines: readonly NumberedLine[], seen: number): Compilable {
    const added = sql`
      INSERT INTO channel_lines
        (channel, mark, id, nick, account, text, via, reply, heard_as, microseconds)
      WITH given
        (given_place, nth, channel, mark, time, id, nick, account, text, via, reply, heard_as)
        AS (VALUES ${sql.join(lines.map(valuesOf))}),
      placed AS (
        SELECT given.*, row_number() OVER (PARTITION BY channel ORDER BY given_place) AS place
        FROM given WHERE nth > (
          SELECT count(*) FROM channel_lines AS others
          WHERE others.channel = given.channel AND others.mark = given.mark AND others.seq > ${seen}
        )
      ),
      stamped AS (
        SELECT placed.*, max(time - place) OVER (PARTITION BY channel ORDER BY place) AS latest,
          coalesce((
            SELECT max(stored.microseconds) FROM channel_lines AS stored
            WHERE stored.channel = placed.channel
          ), 0) AS newest
        FROM placed
      )
      SELECT channel, mark, id, nick, account, text, via, reply, heard_as,
        place + CASE WHEN newest > latest THEN newest ELSE latest END
      FROM stamped WHERE true ORDER BY given_place
      ON CONFLICT DO NOTHING`;
    return { compile: () => added.compile(this.#database.tables) };
  }
}

/** Most lines that one statement adds: each number of lines is a statement of its own. */
const TOGETHER = 16;

/** A line to add. */
interface NumberedLine {
  readonly line: NewLine;
  readonly place: number;
  /** Which of the added lines with its mark it is, from 1. */
  readonly nth: number;
}

/** The lines of each statement. */
function numbered(lines: readonly NewLine[]): readonly NumberedLine[][] {
  const counts = new Map<string, number>();
  const all = lines.map((line, place): NumberedLine => {
    const key = `${line.channel} ${line.mark}`;
    const nth = (counts.get(key) ?? 0) + 1;
    counts.set(key, nth);
    return { line, place, nth };
  });
  const groups: NumberedLine[][] = [];
  for (let at = 0; at < all.length; at += TOGETHER) groups.push(all.slice(at, at + TOGETHER));
  return groups;
}

function valuesOf({ line: { channel, mark, time, message, as }, place, nth }: NumberedLine) {
  const { id, nick, account, text, via = null, reply = null } = message;
  const number = (value: number) => sql`CAST(${value} AS BIGINT)`;
  const texts = (...values: (string | null)[]) =>
    sql.join(values.map((value) => sql`CAST(${value} AS TEXT)`));
  return sql`(${number(place)}, ${number(nth)}, ${texts(channel, mark)}, ${number(time * 1000)},
    ${texts(id, nick, account, text, via, reply)}, ${number(bitsOf(as))})`;
}

function bitsOf(as: LineKind): number {
  return (Object.keys(BITS) as (keyof typeof BITS)[])
    .reduce((bits, name) => as[name] ? bits | BITS[name] : bits, 0);
}

function lineOf(row: ToldRow): StoredLine {
  const { seq, channel, microseconds, mark, via, reply, heard_as: bits } = row;
  const { id, nick, account, text } = row;
  const is = (name: keyof typeof BITS) => (bits & BITS[name]) !== 0;
  const message: ChannelText = {
    id,
    nick,
    account,
    text,
    ...(via === null ? {} : { via: "bridge" }),
    ...(reply === null ? {} : { reply }),
  };
  return {
    seq,
    channel,
    microseconds,
    mark,
    message,
    as: {
      isOurs: is("isOurs"),
      isQuiet: is("isQuiet"),
      isNotice: is("isNotice"),
      isBot: is("isBot"),
      isPast: is("isPast"),
    },
  };
}
