import type { Database } from "../database/mod.ts";

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
export function sentMessages({ tables }: Database) {
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
export function sentOf(row: {
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
