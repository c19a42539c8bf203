import { errorCodeOf, FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { CardReader } from "./card_reader.ts";
import { answerCard } from "./card_answers.ts";
import { findIncomplete } from "./completeness.ts";
import { Exchange } from "./exchange.ts";
import { writeJudged } from "./judge.ts";
import type { Judge, PushRules } from "./judgement.ts";
import { failedAnswer, timestampOf } from "./failed_answer.ts";
import { readLogin } from "./login_card.ts";
import { Reception } from "./receiving.ts";
import { LeftOut, type Refusal } from "./refusal.ts";
import {
  cardsOf,
  type LeftBehind,
  type MessageForm,
  packMessage,
  type SyncAnswer,
  type SyncRequest,
} from "./request.ts";
import { announceAll, announcePrivate, announceUnclustered, countUnclustered } from "./sending.ts";

/** So many artifacts without a cluster are worth clusters. */
const WORTH_CLUSTERS = 100;

/** Errors that are the client's: their texts go into the answer. */
const CLIENTS_ERRORS: ReadonlySet<string> = new Set(["corrupt", "limit", "invalid", "conflict"]);

/** How often a message is read again without what was refused. */
const MAX_ATTEMPTS = 20;

/** The most artifacts that a push leaves out before it ends. */
const MAX_LEFT_BEHIND = 2000;

/** Artifacts that are not stored, by hash. */
type LeftOutParts = ReadonlyMap<string, Refusal>;

const NOTHING: LeftOutParts = new Map();

/** What `answerSync` works with. */
export interface SyncDoor {
  readonly repository: Repository;
  /** Ends the work if the call was cancelled. */
  readonly check: () => void;
}

/**
 * Answers a message of `fossil clone`, `pull`, `push` or `sync`. What it brings is stored in one
 * transaction. If something is refused, that and what depends on it is not stored, and the answer has
 * an error card; a malformed message is refused as a whole.
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
 * Answers in a transaction that writes, with a judge of what comes. What is refused, and what depends
 * on that, is left out: the message is read again without it, and the rest is judged as if it came
 * alone.
 */
function receiveChanges(door: SyncDoor, request: SyncRequest, rules: PushRules): SyncAnswer {
  const leftOut = new Map<string, Refusal>();
  for (let attempt = 1;; attempt++) {
    try {
      return receiveNow(door, { request, rules, leftOut });
    } catch (error) {
      if (!(error instanceof LeftOut) || attempt === MAX_ATTEMPTS) throw error;
      for (const refusal of error.refusals) leftOut.set(refusal.hash, refusal);
    }
  }
}

function receiveNow(
  door: SyncDoor,
  { request, rules, leftOut }: {
    readonly request: SyncRequest;
    readonly rules: PushRules;
    readonly leftOut: LeftOutParts;
  },
): SyncAnswer {
  const { repository } = door;
  const { rights: { user }, address: ip, mark } = request;
  const origin = { user, ip, ...mark === null ? {} : { mark } };
  const { exchanged, receipt } = writeJudged(repository, { origin, rules }, (judge) => {
    const lastRow = repository.db.value<number>("SELECT max(rid) FROM blob") ?? 0;
    const exchanged = exchangeCards(door, request, judge, leftOut);
    if (exchanged.failure !== null) throw new FossilError("invalid", exchanged.failure);
    judge.requireArrivals();
    const { reception } = exchanged;
    const incomplete = findIncomplete(repository, {
      arrivals: reception.arrivals,
      lastRow,
      expected: new Set([
        ...reception.announced(),
        ...leftOut.keys(),
        ...exchanged.refused,
      ]),
      mayLack: rules.role === "admin",
    });
    if (incomplete.length > 0) throw new LeftOut(incomplete);
    const { store } = repository;
    return { exchanged, receipt: store.hasReceipt ? store.receipt() : null };
  });
  return { ...exchanged.finish(), receipt };
}

/** An answer that is not packed yet: packing needs no transaction. */
interface Unpacked {
  readonly reception: Reception;
  /** What earlier messages of the push left out. */
  readonly refused: ReadonlySet<string>;
  /** Why the message is refused as a whole; null if it is not. */
  readonly failure: string | null;
  finish(): SyncAnswer;
}

function exchangeCards(
  { repository, check }: SyncDoor,
  request: SyncRequest,
  judge: Judge | null,
  leftOut: LeftOutParts = NOTHING,
): Unpacked {
  const exchange = new Exchange({ repository, request, judge, check });
  const reception = new Reception(exchange, leftOut);
  let form: MessageForm = request.form;
  let failure: string | null = null;
  const message = cardsOf(request);
  if (request.isSigned) requireWhole(message, request);
  let position = 0;
  for (const card of new CardReader(message)) {
    check();
    const outcome = answerCard({ exchange, reception, isFirst: position++ === 0 }, card);
    if (outcome === "plain") form = outcome;
    else if (outcome !== null) {
      failure = outcome.error;
      break;
    }
  }
  const { out, counts } = exchange;
  let wantsClusters = false;
  let error = failure;
  let leftBehind: LeftBehind | null = null;
  if (failure === null) {
    if (exchange.client !== null) {
      ({ error, leftBehind } = askForRest(exchange, exchange.client, { reception, leftOut }));
    }
    if (exchange.isPulling) wantsClusters = announceRest(exchange);
    if (error !== null) out.add({ kind: "error", text: error });
  }
  return {
    reception,
    refused: exchange.refused,
    failure,
    finish: () => {
      out.comment(timestampOf(request.now, error === null ? 0 : 1));
      const body = wantsClusters ? new Uint8Array(0) : packMessage(out.bytes(), form);
      const { client } = exchange;
      return { body, form, wantsClusters, receipt: null, counts, error, client, leftBehind };
    },
  };
}

/** What ends an answer to a push. */
interface PushEnd {
  readonly error: string | null;
  readonly leftBehind: LeftBehind | null;
}

/**
 * Asks for what is missing, and says how the push ends.
 *
 * A client that has announced something sends it in its next message. So does one in the middle of a push
 * that is asked again for what it has just sent. So an error can wait: after one, clients read nothing
 * else, and without one they take for stored what was left out. They announce
 * again what was left out, so that is remembered until the end. Otherwise the same refused artifacts
 * would come in each message, and others never. Each answer but the last asks for something that the
 * push was not asked for before, so the push ends.
 */
function askForRest(
  { refusedFiles, leftBehind, repository: { store } }: Exchange,
  client: string,
  { reception, leftOut }: { readonly reception: Reception; readonly leftOut: LeftOutParts },
): PushEnd {
  const announced = reception.announced();
  const isAway = (hash: string) => store.ridOf(hash) === 0;
  const refused = new Set(leftBehind?.refused.filter(isAway));
  const asked = new Set(leftBehind?.asked.filter(isAway));
  let sentence = refused.size > 0 ? leftBehind?.sentence ?? null : null;
  const needed: string[] = [];
  const waiting: Refusal[] = [];
  for (const refusal of causesFirst(leftOut)) {
    const { hash, missing, isCluster = false } = refusal;
    // What came, but waits itself for what will come, is not lost.
    const isLost = (name: string) =>
      refused.has(name) || (asked.has(name) && !reception.isComing(name) && !leftOut.has(name));
    if (missing.length > 0 && !missing.some(isLost)) waiting.push(refusal);
    else {
      refused.add(hash);
      if (!isCluster) sentence ??= refusal.sentence;
    }
    // Even a refused list of names tells what its client has.
    if (missing.length > 0) needed.push(...missing.filter((name) => !leftOut.has(name)));
  }
  const wanted = needed.filter((name) => !refused.has(name) && !asked.has(name));
  const first = waiting.find(({ isCluster = false }) => !isCluster);
  const error = refusedFiles[0] ?? sentence ?? first?.sentence ?? null;
  const isFull = refused.size + asked.size > MAX_LEFT_BEHIND;
  const comesAgain = announced.length > 0 || (leftBehind !== null && waiting.length > 0);
  const isLast = refusedFiles.length > 0 || !comesAgain || isFull;
  if (isLast) {
    reception.ask([...wanted, ...isFull ? [] : announced]);
    return { error, leftBehind: null };
  }
  const sent = reception.ask([...wanted, ...announced, ...waiting.map(({ hash }) => hash)]);
  for (const name of wanted) if (sent.has(name)) asked.add(name);
  return {
    error: null,
    leftBehind: { client, refused: [...refused], asked: [...asked], sentence: error },
  };
}

/** Refusals for what artifacts are, and then those for what they need. */
function causesFirst(leftOut: LeftOutParts): readonly Refusal[] {
  const [causes, others]: [Refusal[], Refusal[]] = [[], []];
  for (const refusal of leftOut.values()) {
    (refusal.missing.length === 0 ? causes : others).push(refusal);
  }
  return [...causes, ...others];
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
