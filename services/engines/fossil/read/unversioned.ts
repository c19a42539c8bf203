/** Unversioned files: the newest content of each name, outside every check-in. */
import { unpackBlob } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { isBinary } from "./file.ts";
import type { Reader } from "./reader.ts";
import type { UnversionedContent, UnversionedRef } from "./shapes.ts";

/** `unversioned.encoding` of content that is compressed. */
const COMPRESSED = 1;

interface UnversionedRow {
  readonly name: string;
  /** Unix seconds. */
  readonly mtime: number;
  readonly hash: string;
  readonly sz: number;
}

/** No name has it. */
const LAST_CHARACTER = "\u{10ffff}";

const COLUMNS = "name, mtime, hash, sz";

/**
 * The unversioned files whose names begin with a prefix, sorted by name.
 *
 * @param prefix all files, if it is absent
 */
export function listUnversioned(reader: Reader, prefix = ""): UnversionedRef[] {
  return reader.read(() => {
    const { db } = reader.repository;
    if (!db.hasTable("unversioned")) return [];
    const select = `SELECT ${COLUMNS} FROM unversioned
      WHERE hash IS NOT NULL AND name>=? AND name<? ORDER BY name`;
    return db.rows<UnversionedRow>(select, prefix, prefix + LAST_CHARACTER).map(refOf);
  });
}

/** Those of the unversioned files that are there. */
export function findUnversioned(reader: Reader, names: readonly string[]): UnversionedRef[] {
  return reader.read(() => {
    const { db } = reader.repository;
    if (!db.hasTable("unversioned")) return [];
    const select = `SELECT ${COLUMNS} FROM unversioned WHERE name=? AND hash IS NOT NULL`;
    return names.flatMap((name) => db.row<UnversionedRow>(select, name) ?? []).map(refOf);
  });
}

/**
 * The bytes of an unversioned file.
 *
 * @throws {FossilError} `missing` if there is no such file; `corrupt` if it does not decode.
 */
export function readUnversioned(reader: Reader, name: string): UnversionedContent {
  const { ref, content } = contentOf(reader, name);
  return { ...ref, is_binary: isBinary(content), content };
}

/**
 * Copies an unversioned file to the file `target`, which must not exist.
 *
 * @throws {FossilError} like {@link readUnversioned}
 */
export function copyUnversioned(
  reader: Reader,
  { name, target }: { readonly name: string; readonly target: string },
): UnversionedRef {
  const { ref, content } = contentOf(reader, name);
  Deno.writeFileSync(target, content, { createNew: true });
  return ref;
}

function contentOf(
  reader: Reader,
  name: string,
): { readonly ref: UnversionedRef; readonly content: Uint8Array } {
  return reader.read(() => {
    const { db } = reader.repository;
    const row = db.hasTable("unversioned")
      ? db.row<UnversionedRow & { encoding: number; content: Uint8Array | null }>(
        `SELECT ${COLUMNS}, encoding, content FROM unversioned WHERE name=? AND hash IS NOT NULL`,
        name,
      )
      : undefined;
    if (row === undefined || row.content === null) {
      throw new FossilError("missing", `There is no unversioned file "${name}"`);
    }
    const content = row.encoding === COMPRESSED ? unpackBlob(row.content) : row.content;
    return { ref: refOf(row), content };
  });
}

function refOf({ name, mtime, hash, sz }: UnversionedRow): UnversionedRef {
  return { name, uuid: hash, size: sz, timestamp: new Date(mtime * 1000).toISOString() };
}
