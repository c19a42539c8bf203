import type { Logged, PastMessage } from "../messages/mod.ts";
import type { Restored } from "./inbox_store.ts";

/**
 * Why an entry is in an inbox: a message to the agent alone, a mention in a channel or in a text of
 * a project, something that happened to the agent's work in a project, the end of a question of its
 * own, or a message of its own that came back.
 */
export const ADDRESSED_KINDS = [
  "message",
  "mention",
  "claim",
  "review",
  "check",
  "landing",
  "overlap",
  "answer",
  "ticket",
  "question",
  "halt",
  "bounce",
] as const;
export type AddressedKind = (typeof ADDRESSED_KINDS)[number];

/**
 * What became of an entry. `queued`: the agent has had it on no connection. `delivered`: an IRC
 * connection of the agent has had it. `read`: the agent read it in its inbox. The other states are
 * final, and the entry has left the inbox. `acknowledged`: the agent said that it is done with it.
 * `bounced`: it went back to its sender. `dropped`: it made room for another.
 */
export const ENTRY_STATES = [
  "queued",
  "delivered",
  "read",
  "acknowledged",
  "bounced",
  "dropped",
] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** What of a project an entry is about. */
export interface About {
  /** The project's slug. */
  readonly project?: string | undefined;
  /** The whole id of a ticket. */
  readonly ticket?: string | undefined;
  /** The number of a review. */
  readonly review?: number | undefined;
  /** The whole id of a check-in. */
  readonly checkin?: string | undefined;
  /** The name of a workspace. */
  readonly workspace?: string | undefined;
  /** The number of a question that the agent asked. */
  readonly question?: number | undefined;
}

/** The stored fields of a message besides its text and speaker. */
interface Stored extends About {
  readonly account?: string | null;
  readonly via?: "bridge";
  readonly channel?: string | null;
  readonly message?: string;
}

/** An entry of an inbox. */
export interface AddressedText extends About {
  readonly id: string;
  readonly kind: AddressedKind;
  /** The speaker's nick. */
  readonly from: string;
  /** The speaker's proven account; null if there is none. */
  readonly account: string | null;
  /** `bridge` if the operator sent it under another name. */
  readonly via?: "bridge";
  /** Null if it was sent to the agent alone. */
  readonly channel: string | null;
  readonly text: string;
  /** The id of the message that came back. */
  readonly message?: string | undefined;
}

/** An entry of an inbox, with the state that it had before it was read. */
export type Addressed = Logged<AddressedText> & { readonly state: EntryState };

/** Who sent an entry, and until when it may wait. */
export interface Tracking {
  /** The sender's account, or {@link OPERATOR_SENDER}; null if it has none. */
  readonly senderId: string | null;
  /** The sender's own id of the message; null without one. */
  readonly clientId: string | null;
  /** When it goes back to its sender unless the agent has had it, in Unix ms; null for never. */
  readonly expiresAt: number | null;
}

/** The sender of messages that were sent with the API token. */
export const OPERATOR_SENDER = "operator";

/** An entry as it was stored, with its tracking. */
export interface PastEntry {
  readonly state: EntryState;
  readonly tracking: Tracking;
  readonly past: PastMessage<AddressedText>;
}

/** An entry as it was before a restart. */
export function pastEntry(restored: Restored): PastEntry {
  const { time, state: storedState, senderId, clientId, expiresAt } = restored;
  const state = stateOf(storedState);
  const tracking = { senderId, clientId, expiresAt };
  if (restored.kind === "gone") {
    return { state, tracking, past: { microseconds: time, removed: restored.id } };
  }
  const { id, kind, sender: from, body: text, about } = restored.message;
  const { account = null, via, channel = null, ...rest } = about as Stored;
  const origin = via === undefined ? { from, account } : { from, account, via };
  const message = { id, kind: kindOf(kind), ...origin, channel, text, ...rest };
  return { state, tracking, past: { microseconds: time, message } };
}

/** A state as it was stored. */
export function stateOf(text: string): EntryState {
  return known(ENTRY_STATES, text);
}

function kindOf(text: string): AddressedKind {
  return known(ADDRESSED_KINDS, text);
}

/** @throws {Error} Another version stored it. */
function known<Name extends string>(names: readonly Name[], text: string): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`An inbox holds an unknown word: "${text}"`);
  return found;
}

/** The tracking of what nobody waits for. */
export const UNTRACKED: Tracking = Object.freeze({
  senderId: null,
  clientId: null,
  expiresAt: null,
});
