/** The client's side of a pull: stores what an upstream repository sends. */

import { CardReader } from "./card_reader.ts";
import type { FileCard, PackedFileCard } from "./cards.ts";
import type { SyncDoor } from "./answer.ts";
import { Exchange } from "./exchange.ts";
import { writeJudged } from "./judge.ts";
import type { Judge, PushRules } from "./judgement.ts";
import { Reception } from "./receiving.ts";
import { cardsOf, type ReceivedMessage, type SyncRequest } from "./request.ts";

/** The answer of an upstream repository to a message that pulls. */
export interface PulledMessage extends ReceivedMessage {
  /** What the repository accepts from upstream. */
  readonly rules: PushRules;
  /** The artifacts that the message asked for. */
  readonly asked: readonly string[];
  /** Artifacts that upstream did not send when it was asked before. */
  readonly absent: readonly string[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** What one answer brought. */
export interface PulledRound {
  /** The row of `rcvfrom` of what came; null if nothing new came. */
  readonly receipt: number | null;
  readonly artifacts: number;
  /** What to ask for next; empty at the end. */
  readonly wanted: readonly string[];
  /** Of the artifacts that were asked for, those that upstream neither sent nor named. */
  readonly absent: readonly string[];
  /**
   * Whether artifacts came as deltas of one another, as Fossil sends what a check-in reverts that was
   * amended into the past. They are not stored, and wanted as upstream stores them.
   */
  readonly hasCircle: boolean;
  /** The error that upstream reports; nothing is stored then. */
  readonly error: string | null;
}

/**
 * Stores what an answer brings, in one transaction or not at all. Private artifacts, unversioned
 * files and settings are passed over.
 *
 * @throws {FossilError} `invalid` or `limit` if the answer is malformed; `corrupt` if content does
 * not have its name; `conflict` with the judge's sentence.
 */
export function storePulled(door: SyncDoor, message: PulledMessage): PulledRound {
  const { repository } = door;
  const cards = cardsOf(message);
  const error = errorOf(cards);
  if (error !== null) {
    return { receipt: null, artifacts: 0, wanted: [], absent: [], hasCircle: false, error };
  }
  const origin = { user: message.rules.pusher, ip: null };
  return writeJudged(
    repository,
    { origin, rules: message.rules },
    (judge) => storeCards(door, { message, cards, judge }),
  );
}

/** The first error of a message; null if it has none. */
function errorOf(cards: Uint8Array): string | null {
  for (const card of new CardReader(cards)) if (card.kind === "error") return card.text;
  return null;
}

function storeCards(
  { repository, check }: SyncDoor,
  { message, cards, judge }: {
    readonly message: PulledMessage;
    readonly cards: Uint8Array;
    readonly judge: Judge;
  },
): PulledRound {
  const exchange = new Exchange({ repository, request: requestOf(message), judge, check });
  const reception = new Reception(exchange);
  const { store } = repository;
  const named = new Set<string>();
  let hasCircle = false;
  for (const card of new CardReader(cards)) {
    switch (card.kind) {
      case "file":
      case "cfile":
        named.add(card.hash);
        if (breakCircle(repository, card)) hasCircle = true;
        else reception.receive(card);
        break;
      case "igot":
        named.add(card.hash);
        reception.noteAnnounced(card);
        break;
      case "private":
        reception.expectPrivate();
        break;
    }
  }
  const absent = message.asked.filter((hash) => !named.has(hash));
  for (const hash of [...absent, ...message.absent]) exchange.unknown.add(hash);
  return {
    receipt: store.hasReceipt ? store.receipt() : null,
    artifacts: exchange.counts.artifactsReceived,
    wanted: reception.missing(),
    absent,
    hasCircle,
    error: null,
  };
}

/**
 * Whether an artifact comes as a delta that depends on it. If so, what waits for it is dropped, to be
 * asked for again.
 */
function breakCircle(
  { store }: SyncDoor["repository"],
  { hash, source }: FileCard | PackedFileCard,
): boolean {
  if (source === null) return false;
  const rid = source === hash ? store.ridOrPhantom(hash) : store.ridOf(source);
  if (rid === 0 || !store.dependsOn(rid, hash)) return false;
  store.forgetChain(rid);
  return true;
}

/** Upstream as the client of an exchange: it may write, and has no private artifacts. */
function requestOf(message: PulledMessage): SyncRequest {
  const { rules, now, source, form, maxBytes } = message;
  return {
    source,
    form,
    maxBytes,
    rights: { user: rules.pusher, read: true, write: true, privates: false, hiddenFiles: [] },
    push: rules,
    address: null,
    now,
    cookie: null,
    isSigned: false,
    mark: null,
    mayDefer: false,
    leftBehind: [],
  };
}
