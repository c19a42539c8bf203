import type { Ancestry } from "../graph/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import type { Reader } from "./reader.ts";

/** A file as one check-in left it. */
export interface FileVersion {
  readonly checkin: number;
  /** Row of the content. */
  readonly file: number;
  /** Id of the name that the file has there. */
  readonly name: number;
}

/** A row of `mlink`. */
interface Link {
  readonly mid: number;
  readonly fid: number;
  readonly pmid: number;
  readonly pid: number;
  readonly pfnid: number;
}

/** The changes of check-ins to the files of one name. */
interface Links {
  /** Against the primary parent, by check-in. */
  readonly primary: ReadonlyMap<number, Link>;
  /** Against merged check-ins, by check-in and merged check-in. */
  readonly merged: ReadonlyMap<string, Link>;
}

/** The versions of one file, and their origins. Needs `read`. */
export class FileVersions {
  readonly #reader: Reader;
  readonly #ancestry: Ancestry;
  readonly #name: number;
  readonly #followsMerges: boolean;
  readonly #links = new Map<number, Links>();

  /** `followsMerges`: versions of merged check-ins are parents too, not only the primary one's. */
  constructor(reader: Reader, name: string, followsMerges: boolean) {
    this.#reader = reader;
    this.#ancestry = ancestryOf(reader);
    this.#followsMerges = followsMerges;
    const select = "SELECT fnid FROM filename WHERE name=?";
    this.#name = reader.repository.db.value<number>(select, name) ?? 0;
  }

  /** The version that a check-in has: its own, or that of the nearest primary parent with one. */
  at(checkin: number, name = this.#name): FileVersion | null {
    const { primary } = this.#linksOf(name);
    if (primary.size === 0) return null;
    for (const rid of this.#ancestry.primaryChain(checkin)) {
      const link = primary.get(rid);
      if (link !== undefined) return link.fid > 0 ? { checkin: rid, file: link.fid, name } : null;
    }
    return null;
  }

  /**
   * The versions that a version was made from. If one is identical, it is the only one: the
   * check-in only took it over. Otherwise the primary parent's comes before the merged ones.
   */
  parentsOf({ checkin, file, name }: FileVersion): FileVersion[] {
    const { primary, merged } = this.#linksOf(name);
    const link = primary.get(checkin);
    const parents: FileVersion[] = [];
    const add = (rid: number, from: number) => {
      const version = this.at(rid, from);
      if (version !== null) parents.push(version);
    };
    if (link !== undefined && link.pid > 0) {
      add(this.#ancestry.primaryParent(checkin), link.pfnid || name);
    }
    const others = this.#followsMerges ? this.#ancestry.mergeParents(checkin) : [];
    for (const parent of others) {
      const other = merged.get(`${checkin} ${parent}`);
      if (other === undefined || other.pid > 0) add(parent, other?.pfnid || name);
    }
    const same = parents.find((parent) => parent.file === file);
    return same === undefined ? parents : [same];
  }

  #linksOf(name: number): Links {
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    const rows = this.#reader.repository.db.rows<Link & { isaux: number }>(
      "SELECT mid, fid, pmid, pid, pfnid, isaux FROM mlink WHERE fnid=?",
      name,
    );
    const links = {
      primary: new Map(rows.filter(({ isaux }) => !isaux).map((link) => [link.mid, link])),
      merged: new Map(
        rows.filter(({ isaux }) => isaux).map((link) => [`${link.mid} ${link.pmid}`, link]),
      ),
    };
    this.#links.set(name, links);
    return links;
  }
}
