/** Locks of check-ins that clients are about to continue: `pragma ci-lock`. */
import type { Repository } from "../repository.ts";

/** How long a lock holds, in seconds, where the setting `lock-timeout` is absent. */
const LOCK_SECONDS = 60;
const PREFIX = "ci-lock-";

/** The holder of a lock. */
export interface LockHolder {
  readonly user: string;
  /** Unix seconds. */
  readonly since: number;
}

interface LockRow {
  readonly name: string;
  readonly login: string | null;
  readonly client: string | null;
  readonly mtime: number;
}

/**
 * Locks a check-in for a client. Drops locks that have run out, or whose check-in has been continued.
 * Needs `write`.
 *
 * @param now Unix seconds.
 * @returns the holder, if another client has locked the check-in; else null.
 */
export function lockCheckin(
  { db, config }: Repository,
  { checkin, client, user, now }: {
    readonly checkin: string;
    readonly client: string;
    readonly user: string;
    readonly now: number;
  },
): LockHolder | null {
  const oldest = now - config.integer("lock-timeout", LOCK_SECONDS);
  const rows = db.rows<LockRow>(
    `SELECT name, json_extract(value,'$.login') AS login,
        json_extract(value,'$.clientid') AS client, mtime FROM config
      WHERE name GLOB 'ci-lock-*' AND json_valid(value)`,
  );
  let holder: LockHolder | null = null;
  let isMine = false;
  for (const row of rows) {
    const hash = row.name.slice(PREFIX.length);
    if (row.mtime <= oldest || !isLeaf(db, hash)) config.delete(row.name);
    else if (hash !== checkin) continue;
    else if (row.client === client) isMine = true;
    else holder = { user: row.login ?? "", since: row.mtime };
  }
  if (holder === null && !isMine) {
    const value = JSON.stringify({ login: user, clientid: client });
    db.run(
      "REPLACE INTO config(name,value,mtime) VALUES(?,?,CAST(? AS INT))",
      PREFIX + checkin,
      value,
      now,
    );
  }
  return holder;
}

/** Drops all locks of a client. Needs `write`. */
export function unlockCheckins({ db }: Repository, client: string): void {
  db.run(
    `DELETE FROM config WHERE name GLOB 'ci-lock-*'
      AND (NOT json_valid(value) OR json_extract(value,'$.clientid')=?)`,
    client,
  );
}

function isLeaf(db: Repository["db"], hash: string): boolean {
  return db.exists("SELECT 1 FROM leaf JOIN blob USING(rid) WHERE uuid=?", hash);
}
