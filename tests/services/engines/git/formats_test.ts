/** Packets, deltas, trees and packs, with random data; `git` judges packs. */
import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import {
  applyDelta,
  bytesOfName,
  compareEntries,
  dataPacket,
  DeltaWriter,
  formatTree,
  GitError,
  hexOf,
  lineOf,
  markPacket,
  MAX_PACKET_DATA,
  MODE,
  nameOfObject,
  type Packet,
  PackWriter,
  parseCommand,
  parseFilter,
  parseOldFetch,
  parseTree,
  readPackets,
  textPacket,
} from "../../../../services/engines/git/mod.ts";
import { GitClient } from "../../../support/git_client.ts";
import { peer } from "../../../support/peers.ts";
import { Random } from "../fossil/support/random.ts";

const encoder = new TextEncoder();

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function randomBytes(random: Random, length: number, values = 256): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(values));
}

Deno.test("packets come back as they were written", () => {
  const random = new Random(1);
  for (let round = 0; round < 50; round++) {
    const sent: Packet[] = Array.from({ length: random.below(20) }, () => {
      const marks = ["flush", "delimiter", "end"] as const;
      return random.below(3) === 0
        ? marks[random.below(3)]!
        : randomBytes(random, random.below(300));
    });
    const message = joined(
      sent.map((packet) => typeof packet === "string" ? markPacket(packet) : dataPacket(packet)),
    );
    const read = [...readPackets(message)];
    assert.deepEqual(
      read.map((packet) => typeof packet === "string" ? packet : [...packet]),
      sent.map((packet) => typeof packet === "string" ? packet : [...packet]),
    );
  }
  assert.equal(lineOf(textPacket("ü line\n").subarray(4)), "ü line");
  assert.throws(() => dataPacket(new Uint8Array(MAX_PACKET_DATA + 1)), RangeError);
});

Deno.test("whatever bytes come, a request is read or refused", () => {
  const random = new Random(2);
  const words = [
    "command=fetch",
    "command=ls-refs",
    "command=object-info",
    "object-format=sha1",
    "0001",
    "want " + "a".repeat(40),
    "have " + "b".repeat(40),
    "deepen 5",
    "deepen 99999999999",
    "deepen-since -1",
    "filter combine:blob:none+tree:1",
    "filter combine:%",
    "shallow x",
    "done",
    "want " + "c".repeat(40) + " multi_ack side-band",
    "ref-prefix refs/",
    "oid 0",
  ];
  for (let round = 0; round < 3000; round++) {
    const parts = Array.from({ length: random.below(8) }, () => {
      const word = words[random.below(words.length)]!;
      if (word === "0001") return markPacket("delimiter");
      if (random.below(10) === 0) return randomBytes(random, random.below(30));
      return textPacket(word + (random.below(2) === 0 ? "\n" : ""));
    });
    const message = joined([...parts, markPacket("flush")]);
    for (const parse of [parseCommand, parseOldFetch]) {
      try {
        parse(message);
      } catch (error) {
        if (!(error instanceof GitError)) throw error;
      }
    }
  }
});

Deno.test("filters are read, and unknown ones refused", () => {
  assert.deepEqual(parseFilter("blob:none"), { blobBytes: 0, treeDepth: Infinity });
  assert.deepEqual(parseFilter("blob:limit=2k"), { blobBytes: 2048, treeDepth: Infinity });
  assert.deepEqual(parseFilter("combine:tree:3+blob:limit=1m"), {
    blobBytes: 1024 ** 2,
    treeDepth: 3,
  });
  for (const text of ["", "blob:limit=x", "sparse:oid=main", "combine:combine:blob:none"]) {
    assert.throws(() => parseFilter(text), GitError);
  }
});

Deno.test("a delta gives what its copies and insertions say, whatever their lengths", () => {
  const random = new Random(3);
  for (let round = 0; round < 200; round++) {
    const base = randomBytes(random, random.below(round % 20 === 0 ? 200_000 : 3000));
    const parts = Array.from({ length: random.below(12) }, () => {
      const start = random.below(base.length + 1);
      const end = start + random.below(base.length - start + 1);
      return random.below(2) === 0
        ? { start, end, bytes: base.subarray(start, end) }
        : { start: -1, end: -1, bytes: randomBytes(random, random.below(400)) };
    });
    const result = joined(parts.map(({ bytes }) => bytes));
    const writer = new DeltaWriter({ base: base.length, result: result.length });
    for (const { start, end, bytes } of parts) {
      if (start < 0) writer.insert(bytes);
      else writer.copy(start, end);
    }
    const delta = writer.finish();
    assert.deepEqual(applyDelta(base, delta, 10_000_000), Uint8Array.from(result));
    for (let cut = 0; cut < 20; cut++) {
      const broken = Uint8Array.from(delta);
      broken[random.below(broken.length)] = random.below(256);
      try {
        assert.equal(applyDelta(base, broken, 1_000_000).length <= 1_000_000, true);
      } catch (error) {
        if (!(error instanceof GitError)) throw error;
      }
    }
  }
});

Deno.test("trees come back as they were written, in the order of Git", () => {
  const object = bytesOfName("0123456789".repeat(4));
  const entries = ["a", "a.b", "a0", "ab", "\xff"].map((name, place) => {
    return { name, mode: place === 0 ? MODE.folder : MODE.file, object };
  }).sort(compareEntries);
  assert.deepEqual(entries.map(({ name }) => name), ["a.b", "a", "a0", "ab", "\xff"]);
  assert.deepEqual(parseTree(formatTree(entries)), entries);
  const bytes = formatTree(entries);
  for (let end = 1; end < bytes.length; end++) {
    try {
      parseTree(bytes.subarray(0, end));
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
  }
});

Deno.test({
  name: "git reads the packs that are written here",
  ...peer("git"),
  fn: async () => {
    using client = new GitClient();
    const random = new Random(4);
    await client.git(["init", "--quiet", "--bare", "pack.git"]);
    const blobs = Array.from({ length: 50 }, (_, at) => randomBytes(random, at * at * 40, 20));
    const grown = blobs.map((blob) => joined([blob, encoder.encode("more")]));
    const pieces: Uint8Array[] = [];
    const pack = new PackWriter(3 * blobs.length, (piece) => pieces.push(Uint8Array.from(piece)));
    for (const [at, blob] of blobs.entries()) {
      const baseOffset = pack.offset;
      pack.entry({ kind: "blob" }, blob.length, deflateSync(blob));
      const writer = new DeltaWriter({ base: blob.length, result: grown[at]!.length });
      writer.copy(0, blob.length);
      writer.insert(encoder.encode("more"));
      const delta = writer.finish();
      pack.entry({ baseOffset }, delta.length, deflateSync(delta));
      const twice = new DeltaWriter({ base: grown[at]!.length, result: 2 * grown[at]!.length });
      for (let time = 0; time < 2; time++) twice.copy(0, grown[at]!.length);
      const baseName = nameOfObject("blob", grown[at]!);
      pack.entry({ baseName }, twice.finish().length, deflateSync(twice.finish()));
    }
    const length = pack.finish();
    const bytes = joined(pieces);
    assert.equal(bytes.length, length);
    await client.git(["index-pack", "--stdin", "--strict"], client.path("pack.git"), bytes);
    for (const blob of grown) {
      const name = hexOf(nameOfObject("blob", blob));
      const size = await client.git(["cat-file", "-s", name], client.path("pack.git"));
      assert.equal(size.trim(), `${blob.length}`);
    }
  },
});
