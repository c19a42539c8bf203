import type { ExpressionBuilder } from "kysely";
import { type Database, statement, type Tables } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";
import { isLineOf } from "./message_ids.ts";
import type { ChannelText, HeardAs } from "./options.ts";

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
  /**
   * Resolves when all other nodes have read them, with whether each was added: another node may have
   * added it, and still wait for others. Rejects with Unavailable, also if it takes long.
   */
  readonly confirmed: Promise<readonly boolean[]>;
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
   * Resolves when all other nodes have read what is stored.
   *
   * @throws Unavailable if the database cannot be written, or that takes long
   */
  confirm(): Promise<void>;
  /**
   * Calls a listener when other nodes have written lines. They wait until it has read them.
   *
   * @returns a function that ends the subscription
   */
  onWritten(listener: () => Promise<void>): () => void;
  /** The first lines after a place. */
  after(seq: number, limit: number): Promise<StoredLine[]>;
  /** The newest lines of a channel up to a place, oldest first. */
  newestOf(channel: string, upTo: number, limit: number): Promise<StoredLine[]>;
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
    const counts = new Map<string, number>();
    const statements = lines.map((line) => {
      const key = `${line.channel} ${line.mark}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      return statement(this.#adding(line, { seen, nth }), { committed: () => resolve() });
    });
    const confirmed = this.#database.commit({ statements })
      .then(({ changes }) => changes.map((changed) => changed > 0));
    confirmed.catch(reject);
    stored.catch(() => {});
    return { stored, confirmed };
  }

  async confirm(): Promise<void> {
    const { tables } = this.#database;
    // Nodes confirm what changes: here a line that is gone before anybody sees it.
    const none = {
      channel: "",
      mark: "",
      id: "",
      nick: "",
      text: "",
      heard_as: 0,
      microseconds: 0,
    };
    const statements = [
      statement(tables.insertInto("channel_lines").values(none)),
      statement(tables.deleteFrom("channel_lines").where("channel", "=", "")),
    ];
    await this.#database.commit({ statements });
  }

  onWritten(listener: () => Promise<void>): () => void {
    return this.#database.onPeerChanged("channel_lines", listener);
  }

  async after(seq: number, limit: number): Promise<StoredLine[]> {
    const rows = await this.#rows().where("seq", ">", seq).orderBy("seq").limit(limit).execute();
    return rows.map(lineOf);
  }

  async newestOf(channel: string, upTo: number, limit: number): Promise<StoredLine[]> {
    const rows = await this.#rows().where("channel", "=", channel).where("seq", "<=", upTo)
      .orderBy("microseconds", "desc").limit(limit).execute();
    return rows.reverse().map(lineOf);
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

  /** @param nth which of the added lines with this mark it is, from 1 */
  #adding(
    { channel, mark, time, message, as }: NewLine,
    { seen, nth }: { readonly seen: number; readonly nth: number },
  ) {
    const { tables } = this.#database;
    const { id, nick, account, text, via = null, reply = null } = message;
    return tables.insertInto("channel_lines")
      .columns([
        ...["channel", "mark", "id", "nick", "account", "text", "via", "reply"] as const,
        ...["heard_as", "microseconds"] as const,
      ])
      .expression(
        tables.selectNoFrom((builder) => {
          const given = (value: string | null, name: string) =>
            builder.cast<string>(builder.val(value), "text").as(name);
          return [
            given(channel, "channel"),
            given(mark, "mark"),
            given(id, "id"),
            given(nick, "nick"),
            given(account, "account"),
            given(text, "text"),
            given(via, "via"),
            given(reply, "reply"),
            builder.cast<number>(builder.val(bitsOf(as)), "bigint").as("heard_as"),
            this.#stampOf(builder, { channel, time }).as("microseconds"),
          ];
        }).where(
          ({ selectFrom }) =>
            selectFrom("channel_lines").select(({ fn }) => fn.countAll<number>().as("others"))
              .where("channel", "=", channel).where("mark", "=", mark).where("seq", ">", seen),
          "<",
          nth,
        ),
      )
      .onConflict((conflict) => conflict.doNothing());
  }

  /** The time of a line, or the first microsecond after the channel's newest line. */
  #stampOf(
    builder: ExpressionBuilder<Tables, never>,
    { channel, time }: Pick<NewLine, "channel" | "time">,
  ) {
    const number = (value: number) => builder.cast<number>(builder.val(value), "bigint");
    const newest = builder.selectFrom("channel_lines").where("channel", "=", channel)
      .select(({ fn }) => fn.max("microseconds").as("newest"));
    const next = builder(builder.fn.coalesce(newest, number(0)), "+", number(1));
    const microseconds = number(time * 1000);
    return builder.case().when(next, ">", microseconds).then(next).else(microseconds).end();
  }
}

function bitsOf(as: LineKind): number {
  return (Object.keys(BITS) as (keyof typeof BITS)[])
    .reduce((bits, name) => as[name] ? bits | BITS[name] : bits, 0);
}

function lineOf(row: {
  readonly seq: number;
  readonly channel: string;
  readonly microseconds: number;
  readonly mark: string;
  readonly id: string;
  readonly nick: string;
  readonly account: string | null;
  readonly text: string;
  readonly via: string | null;
  readonly reply: string | null;
  readonly heard_as: number;
}): StoredLine {
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
