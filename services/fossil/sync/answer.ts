import { errorCodeOf, FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { CardReader } from "./card_reader.ts";
import { answerCard } from "./card_answers.ts";
import { Exchange } from "./exchange.ts";
import { writeJudged } from "./judged_write.ts";
import type { Judge, PushRules } from "./judgement.ts";
import { failedAnswer, timestampOf } from "./failed_answer.ts";
import { short } from "./judge_words.ts";
import { readLogin } from "./login_card.ts";
import { type MessageForm, packMessage } from "./message.ts";
import { Reception } from "./receiving.ts";
import { Premature, refused } from "./refusal.ts";
import { cardsOf, type SyncAnswer, type SyncRequest } from "./request.ts";
import { announceAll, announcePrivate, announceUnclustered, countUnclustered } from "./sending.ts";

/** So many artifacts without a cluster are worth clusters. */
const WORTH_CLUSTERS = 100;

/** Errors that are the client's: their texts go into the answer. */
const CLIENTS_ERRORS: ReadonlySet<string> = new Set(["corrupt", "limit", "invalid", "conflict"]);

/** How often a message is read again without what cannot be judged yet. */
const MAX_ATTEMPTS = 10;

const NOTHING: ReadonlySet<string> = new Set();

/** What `answerSync` works with. */
export interface SyncDoor {
  readonly repository: Repository;
  /** Ends the work if the call was cancelled. */
  readonly check: () => void;
}

/**
 * Answers a message of `fossil clone`, `pull`, `push` or `sync`. What it brings is stored in one
 * transaction, or not at all: the answer then has one error card.
 *
 * @throws errors that are not the client's, such as those of the disk.
 */
export function answerSync(door: SyncDoor, request: SyncRequest): SyncAnswer {
  try {
    const { push } = request;
    if (push !== null) return receiveChanges(door, request, push);
    return door.repository.read(() => exchangeCards(door, request, null)).finish();
  } catch (error) {
    const code = errorCodeOf(error);
    if (!(error instanceof FossilError) || code === null || !CLIENTS_ERRORS.has(code)) throw error;
    return failedAnswer(request, error.message);
  }
}

/**
 * Answers in a transaction that writes, with a judge of what comes. What cannot be judged yet is left
 * out and asked for again, as long as something else is stored.
 */
function receiveChanges(door: SyncDoor, request: SyncRequest, rules: PushRules): SyncAnswer {
  const later = new Set<string>();
  for (let attempt = 1;; attempt++) {
    try {
      return receiveNow(door, { request, rules, later });
    } catch (error) {
      if (!(error instanceof Premature) || attempt === MAX_ATTEMPTS) throw error;
      for (const hash of error.hashes) later.add(hash);
    }
  }
}

function receiveNow(
  door: SyncDoor,
  { request, rules, later }: {
    readonly request: SyncRequest;
    readonly rules: PushRules;
    readonly later: ReadonlySet<string>;
  },
): SyncAnswer {
  const { repository } = door;
  const { rights: { user }, address: ip, mark } = request;
  const origin = { user, ip, ...mark === null ? {} : { mark } };
  const { exchanged, receipt } = writeJudged(repository, { origin, rules }, (judge) => {
    const exchanged = exchangeCards(door, request, judge, later);
    if (exchanged.error !== null) throw new FossilError("invalid", exchanged.error);
    const [first] = later;
    if (first !== undefined && !exchanged.hasStored) {
      throw refused(`Artifact ${short(first)} depends on others that the push does not bring`);
    }
    const { store } = repository;
    return { exchanged, receipt: store.hasReceipt ? store.receipt() : null };
  });
  return { ...exchanged.finish(), receipt };
}

/** An answer that is not packed yet: packing needs no transaction. */
interface Unpacked {
  readonly error: string | null;
  /** Whether something new came. */
  readonly hasStored: boolean;
  finish(): SyncAnswer;
}

function exchangeCards(
  { repository, check }: SyncDoor,
  request: SyncRequest,
  judge: Judge | null,
  later: ReadonlySet<string> = NOTHING,
): Unpacked {
  const exchange = new Exchange({ repository, request, judge, check });
  const reception = new Reception(exchange, later);
  let form: MessageForm = request.form;
  let error: string | null = null;
  const message = cardsOf(request);
  if (request.isSigned) requireWhole(message, request);
  let position = 0;
  for (const card of new CardReader(message)) {
    check();
    const outcome = answerCard({ exchange, reception, isFirst: position++ === 0 }, card);
    if (outcome === "plain") form = outcome;
    else if (outcome !== null) {
      error = outcome.error;
      break;
    }
  }
  const { out, counts } = exchange;
  let wantsClusters = false;
  if (error === null) {
    if (exchange.isPushing) reception.askForMissing();
    if (exchange.isPulling) wantsClusters = announceRest(exchange);
  }
  return {
    error,
    hasStored: counts.artifactsReceived > 0,
    finish: () => {
      out.comment(timestampOf(request.now, error === null ? 0 : 1));
      const body = wantsClusters ? new Uint8Array(0) : packMessage(out.bytes(), form);
      return { body, form, wantsClusters, receipt: null, counts, error };
    },
  };
}

/** Checks that nobody has changed a message since its client signed it. */
function requireWhole(message: Uint8Array, { cookie }: SyncRequest): void {
  if (readLogin(message, cookie)?.isWhole !== true) {
    throw new FossilError("invalid", "login failed");
  }
}

/** Names what the client may lack. Returns whether clusters should be written first. */
function announceRest(exchange: Exchange): boolean {
  const { request: { mayDefer }, sendsCatalog, sendsPrivate } = exchange;
  if (mayDefer && exchange.judge === null && countUnclustered(exchange) >= WORTH_CLUSTERS) {
    return true;
  }
  if (sendsCatalog) announceAll(exchange);
  else announceUnclustered(exchange);
  if (sendsPrivate) announcePrivate(exchange);
  return false;
}
