import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  HistoryKind,
  HistoryPart,
  HistoryQuery,
  HistoryRecord,
  HistoryReference,
  HistoryTarget,
  LastMessage,
} from "../../../engines/irc/mod.ts";
import { ArchiveSearch } from "./archive_search.ts";
import type { Answers, FoundRecords, Question } from "./protocol.ts";
import type { LogPosition, SearchIndex } from "./search_index.ts";

/** A place after every record of the same time. */
const LAST = Number.MAX_SAFE_INTEGER;
const FIRST = -1;

/** Most channels in a list of them: those whose log is the newest. */
const MAX_CHANNELS = 1000;

/** So many of the last messages of a channel are looked at to find one that is not confined. */
const LAST_LOOKED_AT = 100;

/** A boundary between two records of a log. */
interface Boundary {
  readonly time: number;
  readonly sequence: number;
}

/** Both sides of a reference; the referenced record is between them. */
interface Position {
  readonly before: Boundary;
  readonly after: Boundary;
}

const BEGINNING: Boundary = { time: FIRST, sequence: FIRST };
const END: Boundary = { time: LAST, sequence: LAST };

export interface ArchiveReaderOptions {
  readonly database: DatabaseSync;
  readonly index: SearchIndex;
  /** As in `spokenIn`. */
  readonly speakerTag: string;
}

/** Answers questions from the archive's file. */
export class ArchiveReader {
  readonly #options: ArchiveReaderOptions;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(options: ArchiveReaderOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  answer(question: Question): Answers[keyof Answers] {
    switch (question.kind) {
      case "select":
        return this.#select(question.target, question.query);
      case "fetch":
        return this.#fetch(question.places);
      case "lastMessages":
        return this.#lastMessages(question);
      case "search":
        return this.#search(question);
      case "openChannels":
        return this.#openChannels();
      case "trimmed":
        return this.#trimmed(question.target);
      case "accounts":
        return this.#prepare("SELECT DISTINCT account FROM targets WHERE account <> ''").all()
          .map((row) => String(row["account"]));
    }
  }

  /** The id of a log; null if there is none. */
  idOf({ account, name }: HistoryTarget): number | null {
    const row = this.#prepare("SELECT id FROM targets WHERE account = ? AND name = ?")
      .get(account ?? "", name);
    return row === undefined ? null : Number(row["id"]);
  }

  #select(target: HistoryTarget, { part, limit, upTo }: HistoryQuery): readonly number[] {
    const log = this.idOf(target);
    if (log === null) return [];
    const range = this.#rangeOf(log, part);
    if (range === null) return [];
    const { from, to, isNewest } = range;
    if (part.kind !== "around") return this.#places(log, upTo, { from, to, limit, isNewest });
    const half = { from: BEGINNING, to: from, limit: Math.floor(limit / 2), isNewest: true };
    const before = this.#places(log, upTo, half);
    const rest = { from, to, limit: limit - before.length, isNewest: false };
    return [...before, ...this.#places(log, upTo, rest)];
  }

  /** The start and end of a part, and the end to count from if it exceeds the limit. */
  #rangeOf(
    log: number,
    part: HistoryPart,
  ): { from: Boundary; to: Boundary; isNewest: boolean } | null {
    switch (part.kind) {
      case "latest": {
        const since = part.since === null ? null : this.#locate(log, part.since);
        if (part.since !== null && since === null) return null;
        return { from: since?.after ?? BEGINNING, to: END, isNewest: true };
      }
      case "before": {
        const position = this.#locate(log, part.reference);
        return position && { from: BEGINNING, to: position.before, isNewest: true };
      }
      case "after": {
        const position = this.#locate(log, part.reference);
        return position && { from: position.after, to: END, isNewest: false };
      }
      case "around": {
        const position = this.#locate(log, part.reference);
        return position && { from: position.before, to: END, isNewest: false };
      }
      case "between": {
        const [first, second] = [this.#locate(log, part.first), this.#locate(log, part.second)];
        if (first === null || second === null) return null;
        return isEarlier(first.before, second.before)
          ? { from: first.after, to: second.before, isNewest: false }
          : { from: second.after, to: first.before, isNewest: true };
      }
    }
  }

  #locate(log: number, reference: HistoryReference): Position | null {
    if ("time" in reference) {
      const { time } = reference;
      return { before: { time, sequence: FIRST }, after: { time, sequence: LAST } };
    }
    const row = this.#prepare("SELECT sequence, time FROM entries WHERE id = ? AND target = ?")
      .get(reference.id, log);
    if (row === undefined) return null;
    const [time, sequence] = [Number(row["time"]), Number(row["sequence"])];
    return { before: { time, sequence: sequence - 1 }, after: { time, sequence } };
  }

  /** The places of records between two boundaries, in the order of the log. */
  #places(
    log: number,
    upTo: HistoryKind,
    { from, to, limit, isNewest }: {
      from: Boundary;
      to: Boundary;
      limit: number;
      isNewest: boolean;
    },
  ): number[] {
    const direction = isNewest ? "DESC" : "ASC";
    const shown = upTo === 0 ? "kind = 0" : `kind <= ${upTo}`;
    const rows = this.#prepare(
      `SELECT sequence FROM entries
       WHERE target = ? AND ${shown} AND time BETWEEN ? AND ?
         AND (time, sequence) > (?, ?) AND (time, sequence) <= (?, ?)
       ORDER BY time ${direction}, sequence ${direction} LIMIT ?`,
    ).all(
      log,
      from.time,
      to.time,
      from.time,
      from.sequence,
      to.time,
      to.sequence,
      limit,
    );
    const places = rows.map((row) => Number(row["sequence"]));
    return isNewest ? places.reverse() : places;
  }

  #fetch(places: readonly number[]): HistoryRecord[] {
    const find = this.#prepare("SELECT id, time, kind, content FROM entries WHERE sequence = ?");
    return places.flatMap((place) => {
      const row = find.get(place);
      return row === undefined || row["content"] === "" ? [] : {
        id: String(row["id"]),
        time: Number(row["time"]),
        kind: Number(row["kind"]) as HistoryKind,
        content: String(row["content"]),
      };
    });
  }

  #lastMessages(
    { channels, account, between: [from, to] }: Question & { kind: "lastMessages" },
  ): LastMessage[] {
    const find = this.#prepare("SELECT id, title FROM targets WHERE account = '' AND name = ?");
    const logs = channels.map((name) => find.get(name)).filter((row) => row !== undefined);
    if (account !== null) {
      logs.push(
        ...this.#prepare("SELECT id, title FROM targets WHERE account = ?").all(account),
      );
    }
    const last = this.#prepare(
      "SELECT max(time) AS time FROM entries WHERE target = ? AND kind = 0",
    );
    return logs.flatMap((row) => {
      const time = Number(last.get(Number(row["id"]))?.["time"] ?? 0);
      return time > from && time < to ? [{ title: String(row["title"]), time }] : [];
    });
  }

  #openChannels(): LastMessage[] {
    const last = this.#prepare(
      `SELECT max(time) AS time FROM (
         SELECT time, confined FROM entries WHERE target = ? AND kind = 0
         ORDER BY time DESC LIMIT ${LAST_LOOKED_AT}
       ) WHERE confined = 0`,
    );
    const channels = this.#prepare(
      `SELECT id, title FROM targets WHERE account = '' ORDER BY id DESC LIMIT ${MAX_CHANNELS}`,
    ).all();
    return channels.flatMap(({ id, title }) => {
      const time = last.get(Number(id))?.["time"] ?? null;
      return time === null ? [] : [{ title: String(title), time: Number(time) }];
    });
  }

  #trimmed({ account, name }: HistoryTarget): number {
    const row = this.#prepare("SELECT trimmed FROM targets WHERE account = ? AND name = ?")
      .get(account ?? "", name);
    return Number(row?.["trimmed"] ?? 0);
  }

  #search({ target, wanted }: Question & { kind: "search" }): FoundRecords {
    const log = this.idOf(target);
    if (log === null) return { moments: [], reached: null };
    const { index, speakerTag } = this.#options;
    const saidAt = this.#saidAt.bind(this);
    return new ArchiveSearch({ index, speakerTag, log, wanted, saidAt }).run();
  }

  #saidAt(log: number, time: number): (HistoryRecord & LogPosition)[] {
    return this.#prepare(
      `SELECT sequence, id, content FROM entries
       WHERE target = ? AND kind = 0 AND time = ? ORDER BY sequence`,
    ).all(log, time).map((row) => ({
      sequence: Number(row["sequence"]),
      id: String(row["id"]),
      time,
      kind: 0,
      content: String(row["content"]),
    }));
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function isEarlier(one: Boundary, other: Boundary): boolean {
  return one.time < other.time || (one.time === other.time && one.sequence <= other.sequence);
}
