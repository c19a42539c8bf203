import { isHex } from "../codec/mod.ts";
import type { Reader } from "./reader.ts";

/** What a text refers to: a check-in or a ticket by a prefix of its id, or a wiki page. */
export interface Reference {
  /** As the text has it. */
  readonly name: string;
  readonly kind: "checkin" | "ticket" | "wiki";
  /** The whole id, or the page's name. */
  readonly target: string;
}

/** Shortest and longest prefix of an id. */
const MIN_PREFIX = 4;
const MAX_HASH = 64;
/** Most names of one question. */
const MAX_NAMES = 1000;

/** Those of the names that stand for something, in their order. A prefix that fits several does not. */
export function findReferences(reader: Reader, names: readonly string[]): Reference[] {
  return reader.read(() =>
    names.slice(0, MAX_NAMES).flatMap((name): Reference[] => {
      const found = pageOf(reader, name) ?? artifactOf(reader, name.toLowerCase());
      return found === null ? [] : [{ name, ...found }];
    })
  );
}

type Found = Pick<Reference, "kind" | "target">;

function pageOf(reader: Reader, title: string): Found | null {
  const size = reader.repository.db.value<string>(
    `SELECT tagxref.value FROM tag CROSS JOIN tagxref USING(tagid)
      WHERE tagname=? AND tagtype>0 ORDER BY tagxref.mtime DESC LIMIT 1`,
    `wiki-${title}`,
  );
  return Number(size ?? 0) > 0 ? { kind: "wiki", target: title } : null;
}

function artifactOf(reader: Reader, prefix: string): Found | null {
  if (prefix.length < MIN_PREFIX || prefix.length > MAX_HASH || !isHex(prefix)) return null;
  const found = [
    ...idsWith(reader, prefix, "checkin"),
    ...idsWith(reader, prefix, "ticket"),
  ];
  return found.length === 1 ? found[0] ?? null : null;
}

function idsWith(reader: Reader, prefix: string, kind: "checkin" | "ticket"): Found[] {
  const select = kind === "checkin"
    ? "SELECT uuid AS target FROM blob JOIN event ON objid=rid AND type='ci' WHERE uuid>=? AND uuid<?"
    : "SELECT tkt_uuid AS target FROM ticket WHERE tkt_uuid>=? AND tkt_uuid<?";
  const rows = reader.repository.db.rows<{ target: string }>(
    `${select} LIMIT 2`,
    prefix,
    `${prefix}g`,
  );
  return rows.map(({ target }) => ({ kind, target }));
}
