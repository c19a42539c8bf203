/** Receives artifacts, and the names of artifacts. */
import { MAX_ARTIFACT_BYTES, unpackBlob } from "../codec/mod.ts";
import type { FileCard, PackedFileCard } from "./cards.ts";
import type { Exchange } from "./exchange.ts";

/** Most artifacts that an answer asks for. */
const MAX_WANTED = 500;

/** What a message brings. */
export class Reception {
  readonly #exchange: Exchange;
  /** Announced names that the repository did not know. */
  readonly #wanted = new Set<string>();
  /** Artifacts that cannot be judged yet: they are not stored, and asked for again. */
  readonly #later: ReadonlySet<string>;
  #isNextPrivate = false;

  constructor(exchange: Exchange, later: ReadonlySet<string>) {
    this.#exchange = exchange;
    this.#later = later;
  }

  /** The next artifact is private. */
  expectPrivate(): void {
    this.#isNextPrivate = true;
  }

  /**
   * Stores an artifact. A shunned one is passed over, and a private one of a client that may not
   * send it.
   *
   * @throws {FossilError} `corrupt` if the content does not have its name; see `Repository.receive`.
   */
  receive(card: FileCard | PackedFileCard): void {
    const { repository, request: { rights }, onRemote, counts, check } = this.#exchange;
    const isPrivate = this.#isNextPrivate;
    this.#isNextPrivate = false;
    check();
    const { hash, source } = card;
    if (this.#later.has(hash)) return void this.#wanted.add(hash);
    const { store } = repository;
    if (store.isShunned(hash) || (source !== null && store.isShunned(source))) return;
    if (isPrivate && !rights.privates) return;
    if (source !== null && !rights.privates && store.isPrivate(store.ridOf(source))) {
      // A delta that fits would show what the source holds. An honest client has it as public
      // content, sends it too, and then this one again.
      return void this.#wanted.add(hash);
    }
    const { rid, isNew } = repository.receive(contentOf(card), {
      hash,
      isPrivate,
      ...(source === null ? {} : { deltaSource: source }),
    });
    if (!isPrivate && store.isAvailable(rid)) store.makePublic(rid);
    onRemote.add(rid);
    if (isNew) counts.artifactsReceived++;
  }

  /** Notes that the client has an artifact; the answer asks for an unknown one. */
  noteAnnounced({ hash, isPrivate }: { readonly hash: string; readonly isPrivate: boolean }): void {
    const { repository: { store }, request: { rights }, onRemote } = this.#exchange;
    const rid = store.ridOf(hash);
    if (rid !== 0) onRemote.add(rid);
    else if ((!isPrivate || rights.privates) && this.#wanted.size < MAX_WANTED) {
      this.#wanted.add(hash);
    }
    if (rid !== 0 && isPrivate && rights.privates && store.sizeOf(rid) < 0) store.makePrivate(rid);
  }

  /**
   * Asks for artifacts: those of which only the name is known, and those that the client announced.
   */
  askForMissing(): void {
    for (const hash of this.missing()) this.#exchange.out.add({ kind: "gimme", hash });
  }

  /** The artifacts to ask for: a bounded number of them. */
  missing(): string[] {
    const { repository: { db, store }, unknown, sendsPrivate } = this.#exchange;
    const wanted = new Set<string>();
    const isPublic = "NOT EXISTS(SELECT 1 FROM private WHERE private.rid=blob.rid)";
    const rows = db.rows<{ uuid: string }>(
      `SELECT uuid FROM phantom CROSS JOIN blob USING(rid)
        WHERE ${sendsPrivate ? "1" : isPublic}
          AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid) LIMIT ?`,
      MAX_WANTED + unknown.size,
    );
    for (const { uuid } of rows) if (!unknown.has(uuid)) wanted.add(uuid);
    for (const hash of this.#wanted) {
      if (store.ridOf(hash) === 0 && !store.isShunned(hash)) wanted.add(hash);
    }
    return [...wanted].slice(0, MAX_WANTED);
  }
}

/** The bytes of a card: an artifact or a delta. They are copied, because the store keeps them. */
function contentOf(card: FileCard | PackedFileCard): Uint8Array {
  return card.kind === "file" ? card.content.slice() : unpackBlob(card.content, MAX_ARTIFACT_BYTES);
}
