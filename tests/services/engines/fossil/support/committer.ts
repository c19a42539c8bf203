/**
 * Commits to the repository that the first argument names until it is killed, and says of each
 * commit that is done which one it is. What it writes cannot be compressed, and next to nothing of it
 * fits into the cache, so that each commit writes to the log all the time that it takes. The log only
 * grows, so that its size tells how far it is.
 */
import { randomBytes } from "node:crypto";
import {
  type FileChange,
  Repository,
  writeCheckin,
} from "../../../../../services/engines/fossil/mod.ts";

const FILES = 40;
const FILE_BYTES = 100_000;
const CACHED_PAGES = 10;

using repository = Repository.open(Deno.args[0] ?? "");
repository.db.exec(`PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=${CACHED_PAGES}`);
let parent = repository.db.value<string>(
  "SELECT uuid FROM leaf JOIN blob USING(rid) JOIN event ON objid=rid ORDER BY mtime DESC LIMIT 1",
) ?? "";
for (;;) {
  const changes = Array.from({ length: FILES }, (_, i): FileChange => ({
    kind: "write",
    path: `folder/${i}`,
    content: new Uint8Array(randomBytes(FILE_BYTES)),
  }));
  const author = { user: "alice", date: Date.now(), allowOlder: true };
  parent = writeCheckin(repository, { ...author, parent, comment: "killed", changes });
  Deno.stdout.writeSync(new TextEncoder().encode(`${parent}\n`));
}
