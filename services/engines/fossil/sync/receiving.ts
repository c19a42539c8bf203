/** Receives artifacts, and the names of artifacts. */
import { deltaTargetLength, isArtifactHash, packedLength, unpackSent } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { FileCard, PackedFileCard } from "./cards.ts";
import type { Exchange } from "./exchange.ts";
import type { Refusal } from "./refusal.ts";

/** Most artifacts that an answer asks for. */
const MAX_WANTED = 500;

/** The most bytes that the artifacts of a message have: small deltas can stand for bytes without end. */
const MAX_EXPANDED_BYTES = 2 * 1024 ** 3;

/** An artifact of a message that was stored. */
export interface ReceivedArtifact {
  /** Its row; 0 if it was not stored, because its source must come first. */
  readonly rid: number;
  /** The source of the delta that came; null for a full text. */
  readonly source: string | null;
}

/** What a message brings. */
export class Reception {
  readonly #exchange: Exchange;
  /** Announced names that the repository did not know. */
  readonly #wanted = new Set<string>();
  /** Announced names that earlier answers asked for: they will come. */
  readonly #coming = new Set<string>();
  /** Artifacts that are not stored; see {@link LeftOut}. */
  readonly #leftOut: ReadonlyMap<string, Refusal>;
  readonly #arrivals = new Map<string, ReceivedArtifact>();
  #isNextPrivate = false;
  #expandedBytes = 0;

  constructor(exchange: Exchange, leftOut: ReadonlyMap<string, Refusal> = new Map()) {
    this.#exchange = exchange;
    this.#leftOut = leftOut;
  }

  /** What was stored, by hash. */
  get arrivals(): ReadonlyMap<string, ReceivedArtifact> {
    return this.#arrivals;
  }

  /** The next artifact is private. */
  expectPrivate(): void {
    this.#isNextPrivate = true;
  }

  /**
   * Stores an artifact. A shunned one is passed over, and a private one of a client that may not
   * send it.
   *
   * @throws {FossilError} `corrupt` if the content does not have its name; `limit` if the artifacts of
   * the message are too large together; see `Repository.receive`.
   */
  receive(card: FileCard | PackedFileCard): void {
    const { repository, request: { rights }, onRemote, counts, check } = this.#exchange;
    const isPrivate = this.#isNextPrivate;
    this.#isNextPrivate = false;
    check();
    const { hash, source } = card;
    if (this.#leftOut.has(hash)) return;
    const { store } = repository;
    if (store.isShunned(hash) || (source !== null && store.isShunned(source))) return;
    if (isPrivate && !rights.privates) return;
    if (source !== null && !rights.privates && store.isPrivate(store.ridOf(source))) {
      // A delta that fits would show what the source holds. An honest client has it as public
      // content, sends it too, and then this one again.
      this.#wanted.add(hash);
      return void this.#arrivals.set(hash, { rid: 0, source });
    }
    const { rid, isNew } = repository.receive(this.#contentOf(card), {
      hash,
      isPrivate,
      ...(source === null ? {} : { deltaSource: source }),
    });
    if (!isPrivate && store.isAvailable(rid)) store.makePublic(rid);
    onRemote.add(rid);
    if (!isNew) return;
    counts.artifactsReceived++;
    this.#arrivals.set(hash, { rid, source });
  }

  /** The bytes of a card: an artifact or a delta. They are copied, because the store keeps them. */
  #contentOf(card: FileCard | PackedFileCard): Uint8Array {
    const { kind, content, source } = card;
    this.#expand(kind === "file" ? content.length : packedLength(content));
    const bytes = kind === "file" ? content.slice() : unpackSent(content);
    if (source !== null) this.#expand(deltaTargetLength(bytes));
    return bytes;
  }

  /** Counts bytes before they take memory. */
  #expand(bytes: number): void {
    this.#expandedBytes += bytes;
    if (this.#expandedBytes <= MAX_EXPANDED_BYTES) return;
    const message =
      `The artifacts of a message have at most ${MAX_EXPANDED_BYTES} bytes together: ` +
      "send fewer at once, as with the setting max-upload of fossil";
    throw new FossilError("limit", message);
  }

  /** Notes that the client has an artifact; the answer asks for an unknown one. */
  noteAnnounced({ hash, isPrivate }: { readonly hash: string; readonly isPrivate: boolean }): void {
    const { repository: { store }, request: { rights }, onRemote, refused, asked } = this.#exchange;
    const rid = store.ridOf(hash);
    if (asked.has(hash)) this.#coming.add(hash);
    if (rid !== 0) onRemote.add(rid);
    else if ((!isPrivate || rights.privates) && this.#wanted.size < MAX_WANTED) {
      if (!refused.has(hash)) this.#wanted.add(hash);
    }
    if (rid !== 0 && isPrivate && rights.privates && store.sizeOf(rid) < 0) store.makePrivate(rid);
  }

  /** Whether the client says that it has what an earlier answer asked for. */
  isComing(hash: string): boolean {
    return this.#coming.has(hash);
  }

  /**
   * Announced artifacts that the repository lacks and this message does not bring; of many, some.
   */
  announced(): string[] {
    const { repository: { store }, unknown } = this.#exchange;
    return [...this.#wanted].filter((hash) =>
      store.ridOf(hash) === 0 && !store.isShunned(hash) && !unknown.has(hash) &&
      !this.#leftOut.has(hash)
    );
  }

  /**
   * Asks for artifacts, and then for those of which only the name is known; a bounded number.
   *
   * @returns what it asked for
   */
  ask(hashes: Iterable<string>): ReadonlySet<string> {
    const { repository: { store }, out } = this.#exchange;
    const asked = new Set<string>();
    for (const hash of [...hashes, ...this.#phantoms()]) {
      if (asked.size === MAX_WANTED) break;
      if (asked.has(hash) || !isArtifactHash(hash) || store.isShunned(hash)) continue;
      asked.add(hash);
      out.add({ kind: "gimme", hash });
    }
    return asked;
  }

  /** The artifacts to ask for: a bounded number of them. */
  missing(): string[] {
    return [...new Set([...this.#phantoms(), ...this.announced()])].slice(0, MAX_WANTED);
  }

  #phantoms(): string[] {
    const { repository: { db }, unknown, sendsPrivate } = this.#exchange;
    const isPublic = "NOT EXISTS(SELECT 1 FROM private WHERE private.rid=blob.rid)";
    const rows = db.rows<{ uuid: string }>(
      `SELECT uuid FROM phantom CROSS JOIN blob USING(rid)
        WHERE ${sendsPrivate ? "1" : isPublic}
          AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid) LIMIT ?`,
      MAX_WANTED + unknown.size,
    );
    return rows.map(({ uuid }) => uuid).filter((uuid) => !unknown.has(uuid));
  }
}
