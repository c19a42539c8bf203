import { firstIndex } from "../../../kernel/first_index.ts";
import type { Artifact, FileCard, FileMode, Manifest } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** Looks names up in sorted F cards; quick if the names are requested in order. */
class CardIndex {
  readonly cards: readonly FileCard[];
  #last = -1;

  constructor(cards: readonly FileCard[]) {
    this.cards = cards;
  }

  find(name: string): FileCard | null {
    const guess = this.cards[this.#last + 1];
    if (guess?.name === name) {
      this.#last++;
      return guess;
    }
    const place = this.placeOf(name);
    const card = this.cards[place];
    if (card?.name !== name) return null;
    this.#last = place;
    return card;
  }

  /** Index of the first card whose name is not before `name`. */
  placeOf(name: string): number {
    const { cards } = this;
    return firstIndex(cards.length, (index) => compareUtf8(cards[index]!.name, name) >= 0);
  }

  /** The cards below a folder. */
  *below(folder: string): Generator<FileCard> {
    const start = `${folder}/`;
    for (let i = this.placeOf(start); this.cards[i]?.name.startsWith(start); i++) {
      yield this.cards[i]!;
    }
  }
}

/** The files of a check-in: F cards of its own, and those of a baseline that they amend. */
export class ManifestFiles {
  readonly #own: CardIndex;
  readonly #baseline: CardIndex | null;

  /**
   * @param own cards in byte order of their names; one without a hash takes a file of the baseline away
   * @param baseline cards in the same order, null for a full manifest
   */
  constructor(own: readonly FileCard[], baseline: readonly FileCard[] | null = null) {
    this.#own = new CardIndex(own);
    this.#baseline = baseline && new CardIndex(baseline);
  }

  /** Cards of the manifest itself: in a delta manifest what differs from the baseline. */
  get own(): readonly FileCard[] {
    return this.#own.cards;
  }

  /** The card in the manifest itself; in a delta manifest it may delete a file. */
  findOwn(name: string): FileCard | null {
    return this.#own.find(name);
  }

  /** The file of that name, or null. */
  find(name: string): FileCard | null {
    const own = this.#own.find(name);
    if (own !== null) return own.hash === null ? null : own;
    const kept = this.#baseline?.find(name) ?? null;
    return kept && unmoved(kept);
  }

  /** Every file, sorted by name. */
  all(): FileCard[] {
    if (this.#baseline === null) return [...this.own];
    const { cards } = this.#baseline;
    const files: FileCard[] = [];
    let next = 0;
    for (const card of this.own) {
      const place = this.#baseline.placeOf(card.name);
      for (; next < place; next++) files.push(unmoved(cards[next]!));
      if (cards[next]?.name === card.name) next++;
      if (card.hash !== null) files.push(card);
    }
    for (; next < cards.length; next++) files.push(unmoved(cards[next]!));
    return files;
  }

  /** How many files there are. */
  get count(): number {
    if (this.#baseline === null) return this.own.length;
    let count = this.#baseline.cards.length;
    for (const { name, hash } of this.own) {
      const isKept = this.#baseline.find(name) !== null;
      count += Number(hash !== null) - Number(isKept);
    }
    return count;
  }

  /** Whether there is a file below a folder. */
  hasBelow(folder: string): boolean {
    const isFile = ({ name }: FileCard) => this.find(name) !== null;
    return this.#own.below(folder).some(isFile) ||
      (this.#baseline?.below(folder).some(isFile) ?? false);
  }

  /** The changes that make other files of these: a card without a hash takes a file away. */
  changesTo(files: readonly FileCard[]): FileCard[] {
    const names = new TextSet(files.map(({ name }) => name));
    const gone = this.all().filter(({ name }) => !names.has(name));
    return [
      ...files.filter((card) => card.oldName !== null || !isSameFile(card, this.find(card.name))),
      ...gone.map(({ name }): FileCard => ({ name, hash: null, mode: "file", oldName: null })),
    ];
  }

  /** These files with changes, as cards that amend the same baseline, or this full manifest. */
  with(changes: Iterable<FileCard>): ManifestFiles {
    const baseline = this.#baseline ?? this.#own;
    const kept = this.#baseline === null ? [] : this.own.map(unmoved);
    const own = new TextMap([...kept, ...changes].map((card) => [card.name, card]));
    return new ManifestFiles(
      [...own.values()]
        .filter((card) => card.oldName !== null || !isSameFile(card, baseline.find(card.name)))
        .toSorted((left, right) => compareUtf8(left.name, right.name)),
      baseline.cards,
    );
  }
}

/** A card of an earlier check-in, in which the file may have been moved. */
function unmoved(card: FileCard): FileCard {
  return card.oldName === null ? card : { ...card, oldName: null };
}

/** Whether two cards of a name say the same; null, and a card without a hash, are no file. */
export function isSameFile(left: FileCard, right: FileCard | null): boolean {
  if (left.hash === null || right === null) return left.hash === (right?.hash ?? null);
  return left.hash === right.hash && left.mode === right.mode;
}

/** The part of the store that `manifestFiles` needs to find a baseline. */
export interface ArtifactSource {
  /** Row of a name; throws if the name is unknown. */
  ridOf(hash: string): number;
  artifact(rid: number): Artifact | null;
}

/**
 * The files of a check-in.
 *
 * @throws {FossilError} `missing` if the baseline of a delta manifest is missing.
 */
export function manifestFiles(source: ArtifactSource, manifest: Manifest): ManifestFiles {
  if (manifest.baseline === null) return new ManifestFiles(manifest.files);
  const baseline = source.artifact(source.ridOf(manifest.baseline));
  if (baseline?.kind === "manifest") return new ManifestFiles(manifest.files, baseline.files);
  throw new FossilError("missing", `Baseline "${manifest.baseline}" is missing`);
}

/** As {@linkcode manifestFiles}: every file, sorted by name. */
export function filesOf(source: ArtifactSource, manifest: Manifest): FileCard[] {
  return manifestFiles(source, manifest).all();
}

/** The number that `mlink.mperm` has for a mode. */
export function modeNumber(mode: FileMode): number {
  return mode === "executable" ? 1 : mode === "link" ? 2 : 0;
}
