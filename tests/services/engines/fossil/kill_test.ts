/** What `kill -9` leaves of a repository that is being written. */
import assert from "node:assert/strict";
import { Repository } from "../../../../services/engines/fossil/mod.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { Random } from "./support/random.ts";
import { difference, dumpTables } from "./support/tables.ts";
import { THOROUGH } from "../../../support/level.ts";

/** Kills that must land in the middle of a commit, and how many are tried for them. */
const WANTED_KILLS = 5;
const MAX_KILLS = 50;
/** Longest wait for the log to grow, in milliseconds. */
const MAX_WAIT_MS = 30_000;
/** About as many bytes as one commit adds to the log. */
const COMMIT_BYTES = 4_000_000;

const COMMITTER = new URL("./support/committer.ts", import.meta.url);

Deno.test(
  "kill -9 in the middle of a commit leaves the repository whole, and loses nothing",
  THOROUGH,
  async () => {
    using scratch = new Scratch();
    const random = new Random(5);
    let [torn, kills] = [0, 0];
    for (; torn < WANTED_KILLS && kills < MAX_KILLS; kills++) {
      const path = scratch.path(`killed${kills}.fossil`);
      Repository.create(path, { admin: "alice", date: History.start }).close();
      const acknowledged = await killWhileCommitting(path, random.below(2 * COMMIT_BYTES));
      if (hasTornTransaction(`${path}-wal`)) torn++;
      assertWhole(path, acknowledged);
      Deno.removeSync(path);
    }
    assert.equal(torn, WANTED_KILLS, `${torn} of ${kills} kills were in the middle of a commit`);
  },
);

/** Every commit is there as a whole or not at all, and each that was said to be done is there. */
function assertWhole(path: string, acknowledged: readonly string[]): void {
  using repository = Repository.open(path);
  assert.deepEqual(repository.verify(), []);
  const present = repository.db.rows<{ uuid: string }>("SELECT uuid FROM event, blob ON rid=objid")
    .map(({ uuid }) => uuid);
  assert.deepEqual(acknowledged.filter((hash) => !present.includes(hash)), []);
  // The first check-in, and one where the kill came between a commit and its word.
  assert.ok(present.length <= acknowledged.length + 2);
  const before = dumpTables(path);
  repository.rebuild();
  assert.deepEqual(difference(dumpTables(path), before), []);
}

/**
 * Starts a process that commits, and kills it when its log has grown to so many bytes.
 *
 * @returns hashes of the commits that it said were done.
 */
async function killWhileCommitting(path: string, logBytes: number): Promise<string[]> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--allow-all", "--no-config", COMMITTER.pathname, path],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const output = new Response(process.stdout).text();
  const deadline = performance.now() + MAX_WAIT_MS;
  while (sizeOf(`${path}-wal`) <= logBytes && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  process.kill("SIGKILL");
  const { signal } = await process.status;
  assert.equal(signal, "SIGKILL");
  return (await output).split("\n").slice(0, -1);
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Whether a write-ahead log ends with pages of a transaction that was not committed.
 *
 * @see {@link https://www.sqlite.org/fileformat2.html#walformat}
 */
function hasTornTransaction(path: string): boolean {
  const log = Deno.readFileSync(path);
  const view = new DataView(log.buffer);
  const pageBytes = view.getUint32(8);
  const salts = view.getBigUint64(16);
  let isTorn = false;
  for (let at = LOG_HEADER_BYTES; at + FRAME_HEADER_BYTES <= log.length;) {
    if (view.getBigUint64(at + 8) !== salts) return isTorn;
    const pagesAfterCommit = view.getUint32(at + 4);
    isTorn = pagesAfterCommit === 0;
    at += FRAME_HEADER_BYTES + pageBytes;
  }
  return isTorn;
}
