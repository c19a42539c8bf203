/** What the import of a repository file costs: no more than its declared sizes, which are bounded. */
import assert from "node:assert/strict";
import { RepositoryPool } from "../../../../services/engines/fossil/front/mod.ts";
import {
  createEmptyRepository,
  FossilError,
  importFossil,
} from "../../../../services/engines/fossil/mod.ts";
import { createDelta, packBlob } from "../../../../services/engines/fossil/codec/mod.ts";
import { Fixture, put } from "./support/fixture.ts";
import { THOROUGH } from "../../../support/level.ts";

const nameOf = (number: number) => number.toString(16).padStart(64, "0");

/** Imports a repository after SQL has changed it. */
function importForged(forge: (fixture: Fixture) => void): void {
  using fixture = new Fixture();
  fixture.commit([put("a", "1\n".repeat(50))]);
  forge(fixture);
  importCopy(fixture);
}

/** Imports a repository into a new one. */
function importCopy({ repository, path, scratch }: Fixture, progress: () => void = () => {}): void {
  repository.checkpoint();
  const copied = scratch.path(`copy-${crypto.randomUUID()}.fossil`);
  using copy = createEmptyRepository(copied, { admin: "root" });
  importFossil(copy, path, { progress });
}

function addBlob({ repository: { db } }: Fixture, size: number, content: Uint8Array, srcid = 0) {
  const rid = db.insert(
    "INSERT INTO blob(rcvid,size,uuid,content) VALUES(1,?,?,?)",
    size,
    nameOf(db.value<number>("SELECT max(rid) FROM blob") ?? 0),
    content,
  );
  if (srcid > 0) db.run("INSERT INTO delta(rid,srcid) VALUES(?,?)", rid, srcid);
}

Deno.test("artifacts that declare far more bytes than the file holds are refused before they are read", () => {
  const declared = 250_000_000;
  const header = new Uint8Array([...new Uint8Array(new Uint32Array([declared]).buffer)].reverse());
  const message = /^The artifacts of the file declare more than \d+ bytes, which is far more than/;
  const forge = (fixture: Fixture) => {
    for (let count = 0; count < 6; count++) addBlob(fixture, declared, header);
  };
  assert.throws(() => importForged(forge), { code: "limit", message });
});

Deno.test("a content that is too large is refused before it is read", () => {
  const forge = ({ repository: { db } }: Fixture) =>
    db.exec("UPDATE blob SET content=zeroblob(270000000) WHERE rid=2");
  assert.throws(() => importForged(forge), { code: "limit" });
});

Deno.test("a delta that makes more than its row declares is refused before it is applied", () => {
  const target = new Uint8Array(1_000_000);
  const message = /does not have the size of its row$/;
  const forge = (fixture: Fixture) => {
    const source = fixture.repository.db.value<number>("SELECT rid FROM blob WHERE size=100");
    const delta = packBlob(createDelta(new Uint8Array(100), target));
    addBlob(fixture, 10, delta, source);
  };
  assert.throws(() => importForged(forge), { code: "corrupt", message });
});

Deno.test(
  "an import can be abandoned at every row, and at every large artifact of later steps",
  THOROUGH,
  () => {
    using fixture = new Fixture();
    fixture.commit([put("a", "1\n".repeat(50))]);
    fixture.commit([put("large", "\0".repeat(20_000_000))]);
    const rows = fixture.repository.db.value<number>("SELECT count(*) FROM blob") ?? 0;
    let calls = 0;
    importCopy(fixture, () => calls++);
    assert.equal(calls, rows + 2);
    for (let last = 1; last <= calls; last++) {
      let left = last;
      const abandon = () => {
        if (--left === 0) throw new FossilError("timeout", "abandoned");
      };
      assert.throws(() => importCopy(fixture, abandon), { code: "timeout" });
    }
  },
);

Deno.test("a pool closes in bounded time while a call never ends", async () => {
  using fixture = new Fixture();
  // It sleeps: Deno does not end a terminated worker that computes, so a core would burn until the end.
  const sleep = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
  const url = URL.createObjectURL(new Blob([`self.onmessage = () => { ${sleep}; };`]));
  const started = Promise.withResolvers<void>();
  const startWorker = () => {
    started.resolve();
    return new Worker(url, { type: "module" });
  };
  const pool = new RepositoryPool({ workers: 1, closeMs: 1, startWorker });
  const opening = assert.rejects(pool.open(fixture.path), { code: "unavailable" });
  await started.promise;
  await pool.close();
  await opening;
  URL.revokeObjectURL(url);
});
