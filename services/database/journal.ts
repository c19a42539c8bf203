import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

/** An event as a service hands it over; the journal adds its number and its hash. */
export interface NewEvent {
  /** Unix milliseconds. */
  readonly time: number;
  readonly type: string;
  readonly actor: string;
  readonly actorId: string | null;
  readonly address: string | null;
  readonly cause: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The hash before the first event. */
const GENESIS = "0".repeat(64);

/**
 * The hash of an event: SHA-256, in hex, over the hash of the event before it and a JSON array of
 * the row's columns in their order.
 */
export function eventHash(previous: string, seq: number, event: NewEvent): string {
  const row = [
    seq,
    event.time,
    event.type,
    event.actor,
    event.actorId,
    event.address,
    event.cause,
    JSON.stringify(event.data),
  ];
  return createHash("sha256").update(previous).update(JSON.stringify(row)).digest("hex");
}

/**
 * Appends events to the log, inside the transaction that the caller has open.
 *
 * @returns the sequence number of each
 */
export function appendEvents(database: DatabaseSync, events: readonly NewEvent[]): number[] {
  if (events.length === 0) return [];
  const last = database.prepare("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").get();
  let seq = Number(last?.["seq"] ?? 0);
  let hash = String(last?.["hash"] ?? GENESIS);
  const insert = database.prepare(
    `INSERT INTO events (seq, time, type, actor, actor_id, address, cause, data, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return events.map((event) => {
    seq += 1;
    hash = eventHash(hash, seq, event);
    const { time, type, actor, actorId, address, cause, data } = event;
    insert.run(seq, time, type, actor, actorId, address, cause, JSON.stringify(data), hash);
    return seq;
  });
}
