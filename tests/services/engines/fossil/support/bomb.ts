/** Repositories that are small on disk and large in memory. */
import { encodeUtf8, packBlob, Repository } from "../../../../../services/engines/fossil/mod.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/** A number as deltas have it. */
function base64(value: number): string {
  const high = Math.floor(value / 64);
  return (high === 0 ? "" : base64(high)) + DIGITS[value % 64]!;
}

/**
 * Makes a repository in which each artifact is twice as large as the one that it is a delta of. The
 * names are made up.
 */
export function makeDoublingDeltas(path: string, firstBytes: number, doublings: number): void {
  using repository = Repository.create(path, { admin: "mallory", date: 1_600_000_000_000 });
  const { db } = repository;
  const insert = "INSERT INTO blob(rid,rcvid,size,uuid,content) VALUES(?,1,?,?,?)";
  const name = (rid: number) => rid.toString(16).padStart(64, "0");
  let length = firstBytes;
  db.run(insert, 100, length, name(100), packBlob(new Uint8Array(length)));
  for (let rid = 101; rid <= 100 + doublings; rid++) {
    const copy = `${base64(length)}@0,`;
    length *= 2;
    const delta = encodeUtf8(`${base64(length)}\n${copy}${copy}0;`);
    db.run(insert, rid, length, name(rid), packBlob(delta));
    db.run("INSERT INTO delta(rid,srcid) VALUES(?,?)", rid, rid - 1);
  }
}
