import type { Artifact, FileCard, FileMode, Manifest } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { TextMap } from "../text/mod.ts";

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
    let [low, high] = [0, this.cards.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const card = this.cards[middle]!;
      const order = compareUtf8(card.name, name);
      if (order === 0) {
        this.#last = middle;
        return card;
      }
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return null;
  }
}

/** The files of a check-in, whether its manifest is a full one or a delta of a baseline. */
export class ManifestFiles {
  readonly #own: CardIndex;
  readonly #baseline: CardIndex | null;

  /** `baseline` is the full manifest that a delta manifest names, null for a full one. */
  constructor(manifest: Manifest, baseline: Manifest | null) {
    this.#own = new CardIndex(manifest.files);
    this.#baseline = baseline && new CardIndex(baseline.files);
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
    return this.#baseline?.find(name) ?? null;
  }

  /** Every file, sorted by name. */
  all(): FileCard[] {
    if (this.#baseline === null) return [...this.own];
    const changed = new TextMap(this.own.map((card) => [card.name, card]));
    const kept = this.#baseline.cards.filter((card) => !changed.has(card.name));
    return [...kept, ...this.own.filter((card) => card.hash !== null)]
      .toSorted((left, right) => compareUtf8(left.name, right.name));
  }
}

/** The part of the store that `filesOf` needs to find a baseline. */
export interface ArtifactSource {
  /** Row of a name; throws if the name is unknown. */
  ridOf(hash: string): number;
  artifact(rid: number): Artifact | null;
}

/**
 * Every file of a check-in, sorted by name.
 *
 * @throws {FossilError} `missing` if the baseline of a delta manifest is missing.
 */
export function filesOf(source: ArtifactSource, manifest: Manifest): FileCard[] {
  if (manifest.baseline === null) return [...manifest.files];
  const baseline = source.artifact(source.ridOf(manifest.baseline));
  if (baseline?.kind === "manifest") return new ManifestFiles(manifest, baseline).all();
  throw new FossilError("missing", `Baseline "${manifest.baseline}" is missing`);
}

/** The number that `mlink.mperm` has for a mode. */
export function modeNumber(mode: FileMode): number {
  return mode === "executable" ? 1 : mode === "link" ? 2 : 0;
}
