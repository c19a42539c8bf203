/** Pushes that a server must refuse, each with what it must say. */
import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";
import { DeltaWriter } from "../../services/engines/git/mod.ts";
import {
  insertingDelta,
  rawBlob,
  type RawCommand,
  rawCommit,
  type RawEntry,
  type RawObject,
  rawObject,
  rawPack,
  rawTag,
  rawTree,
  sealed,
} from "./raw_pushes.ts";

const FILE = 0o100644;
const FOLDER = 0o40000;
const LINK = 0o120000;
export const EVE = "refs/heads/eve";
const ABSENT = "1".repeat(40);

/** A push that must be refused. */
export interface HostilePush {
  readonly name: string;
  readonly commands: readonly RawCommand[];
  readonly pack: Uint8Array;
  readonly answer: RegExp;
}

/** What the project has before the pushes. */
export interface HostileGround {
  /** The commit at the tip of `trunk`. */
  readonly tip: string;
  readonly tree: string;
}

const blob = rawBlob("x\n");
const tree = rawTree([["a", FILE, blob]]);
const commit = rawCommit(tree);
const whole = rawPack([commit, tree, blob]);

/** A push of a commit that has a tree. */
function ofTree(name: string, made: RawObject, answer: RegExp, others: readonly RawObject[] = []) {
  const tip = rawCommit(made);
  const pack = rawPack([tip, made, blob, ...others]);
  return { name, commands: [[EVE, tip.hex] as const], pack, answer };
}

/** A push of a file or folder with a name. */
function ofName(name: string, answer = /has an entry ".*" that /) {
  const bytes = Buffer.from(name).toString("latin1");
  return [
    ofTree(`a file ${JSON.stringify(name)}`, rawTree([[bytes, FILE, blob]]), answer),
    ofTree(`a folder ${JSON.stringify(name)}`, rawTree([[bytes, FOLDER, tree]]), answer, [tree]),
  ];
}

/** A push of bytes in place of a pack. */
function ofPack(name: string, pack: Uint8Array, answer: RegExp): HostilePush {
  return { name, commands: [[EVE, commit.hex]], pack, answer };
}

/** A push of entries; what it should bring is not among them. */
function ofEntries(name: string, entries: readonly RawEntry[], answer: RegExp): HostilePush {
  return { name, commands: [[EVE, ABSENT]], pack: rawPack(entries), answer };
}

/** A push of a commit that is written by hand. */
function ofCommit(name: string, text: string, answer: RegExp): HostilePush {
  const made = rawObject("commit", Buffer.from(text, "latin1"));
  return { name, commands: [[EVE, made.hex]], pack: rawPack([made, tree, blob]), answer };
}

/** A push of a tag that is written by hand. */
function ofTag(name: string, text: string, answer: RegExp): HostilePush {
  const made = rawObject("tag", Buffer.from(text, "latin1"));
  const pack = rawPack([made, commit, tree, blob]);
  return { name, commands: [["refs/tags/eve", made.hex]], pack, answer };
}

/** A push of a good commit to a reference. */
function ofRef(ref: string, answer: RegExp, from?: string): HostilePush {
  const command: RawCommand = from === undefined ? [ref, commit.hex] : [ref, commit.hex, from];
  return { name: `the reference ${ref}`, commands: [command], pack: whole, answer };
}

/** A pack whose only entry has a head of these bytes. */
function withHead(bytes: readonly number[], content: Uint8Array = deflateSync(blob.content)) {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\x01", "latin1");
  return sealed(Buffer.concat([head, Buffer.from(bytes), content]));
}

function withVersion(version: number): Buffer {
  const bytes = Buffer.from(whole.subarray(0, -20));
  bytes.writeUInt32BE(version, 4);
  return sealed(bytes);
}

/** A delta of the blob, as bytes. */
function delta(name: string, bytes: readonly number[], answer: RegExp): HostilePush {
  return ofEntries(name, [
    blob,
    { form: { baseName: blob.name }, content: Uint8Array.from(bytes) },
  ], answer);
}

const PERSON = "Eve <eve@example.org> 1700000000 +0000";
const SIGNED = `author ${PERSON}\ncommitter ${PERSON}\n`;

/** Pushes whose pack is malformed, cut, damaged or a bomb. */
export const BAD_PACKS: readonly HostilePush[] = [
  ofPack("no pack", Buffer.alloc(0), /unpack The push has no pack/),
  ofPack("half a head", whole.subarray(0, 7), /unpack The push has no pack/),
  ofPack(
    "another file",
    sealed(Buffer.from("GIF89a, and more bytes")),
    /unpack The push has no pack/,
  ),
  ofPack("version 1", withVersion(1), /unpack A pack of version 1/),
  ofPack("version 4", withVersion(4), /unpack A pack of version 4/),
  ofPack("more objects than it has", rawPack([commit, tree, blob], 4), /unpack /),
  ofPack("fewer objects than it has", rawPack([commit, tree, blob], 2), /unpack .*after its end/),
  ofPack("four billion objects", rawPack([commit], 0xffffffff), /unpack The pack has 4294967295/),
  ofPack("no objects", rawPack([]), /unpack The object [0-9a-f]{40} is missing/),
  ofPack(
    "bytes after its end",
    sealed(Buffer.concat([whole.subarray(0, -20), Buffer.from("more")])),
    /unpack The pack has bytes after its end/,
  ),
  ofPack("another checksum", flipped(whole, whole.length - 1), /unpack .*its checksum/),
  ofPack("a flipped byte", flipped(whole, 30), /unpack /),
  ...[12, 13, 20, 60, whole.length - 20, whole.length - 1].map((length) =>
    ofPack(`only ${length} bytes`, whole.subarray(0, length), /unpack /)
  ),
  ofPack("type 0", withHead([0x02]), /unpack An object has the unknown type 0/),
  ofPack("type 5", withHead([0x52]), /unpack An object has the unknown type 5/),
  ofPack("an endless size", withHead(Array(60).fill(0xff)), /unpack An object has a size/),
  ofPack("a size of 2^48", withHead([0xb0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]), /unpack An/),
  ofPack("no zlib stream", withHead([0x32], Buffer.from("garbage")), /unpack An object is damaged/),
  ofPack(
    "a zlib stream that is cut",
    withHead([0x32], deflateSync(blob.content).subarray(0, 5)),
    /unpack /,
  ),
  ofPack("less than it declares", withHead([0x33]), /unpack An object has another size/),
  ofPack(
    "more than it declares",
    withHead([0x31]),
    /unpack An object (?:has another size|is longer)/,
  ),
  ofEntries(
    "a bomb",
    [{ form: { kind: "blob" }, content: new Uint8Array(20_000_000), size: 10 }],
    /unpack An object is longer/,
  ),
  ofEntries(
    "a terabyte",
    [{ form: { kind: "blob" }, content: new Uint8Array(10), size: 2 ** 40 }],
    /unpack An object has 1099511627776 bytes/,
  ),
];

/** Pushes with deltas that are malformed, endless or bombs. */
export const BAD_DELTAS: readonly HostilePush[] = [
  ofEntries("a base nowhere", [
    { form: { baseName: commit.name }, content: insertingDelta(commit.content, blob.content) },
  ], /unpack The pack has deltas whose bases/),
  ofEntries("a base before the pack", [
    { form: { baseOffset: -50 }, content: insertingDelta(blob.content, blob.content) },
  ], /unpack A delta has no base where it says/),
  ofEntries("a base within an object", [
    blob,
    { form: { baseOffset: 13 }, content: insertingDelta(blob.content, blob.content) },
  ], /unpack A delta has no base where it says/),
  ofPack(
    "a delta of itself",
    withHead([0x64, 0x00], deflateSync(insertingDelta(blob.content, blob.content))),
    /unpack /,
  ),
  ofEntries("deltas that wait for each other", [
    {
      form: { baseName: rawBlob("1").name },
      content: insertingDelta(Buffer.from("1"), Buffer.from("2")),
    },
    {
      form: { baseName: rawBlob("2").name },
      content: insertingDelta(Buffer.from("2"), Buffer.from("1")),
    },
  ], /unpack The pack has deltas whose bases/),
  delta("an empty delta", [], /unpack A delta is cut short/),
  delta(
    "a delta for another base",
    [9, 1, 1, 65],
    /unpack A delta is for a base of another length/,
  ),
  delta("a copy from outside", [2, 5, 0x90, 5], /unpack A delta copies from outside/),
  delta(
    "a copy far outside",
    [2, 5, 0xff, 255, 255, 255, 255, 255, 255, 255],
    /unpack A delta copies/,
  ),
  delta("an unknown instruction", [2, 1, 0], /unpack A delta has an unknown instruction/),
  delta("an insertion that is cut", [2, 9, 9, 65], /unpack A delta is cut short/),
  delta("a copy that is cut", [2, 9, 0x9f, 1], /unpack A delta is cut short/),
  delta("more than it declares", [2, 1, 2, 65, 65], /unpack A delta gives more/),
  delta("less than it declares", [2, 9, 1, 65], /unpack A delta gives less/),
  delta(
    "a result of 2^50",
    [2, 255, 255, 255, 255, 255, 255, 255, 127],
    /unpack A delta has a size/,
  ),
  delta("a result of 2^48", [2, 128, 128, 128, 128, 128, 128, 64], /unpack /),
  ofEntries("a tree that a delta makes malformed", [
    tree,
    { form: { baseName: tree.name }, content: insertingDelta(tree.content, Buffer.from("x")) },
  ], /unpack The tree [0-9a-f]{40} is malformed/),
  ofEntries("a few bytes that stand for many", bombOfDeltas(), /unpack .*bytes together, and have/),
  ofEntries("a chain of 5000 deltas", chain(5000), /unpack A delta has more than 4095 bases/),
];

/** Pushes with trees that harm a checkout, or that nobody can read. */
export const BAD_TREES: readonly HostilePush[] = [
  ...[
    ".git",
    ".GIT",
    ".Git ",
    ".git.",
    ".git. . .",
    ".git::$INDEX_ALLOCATION",
    ".git:stream",
    "git~1",
    "GIT~1",
    "GIT~1.",
    ".g\u200cit",
    "\u200d.git",
    ".git\ufeff",
    ".gi\u202et",
    "..",
    ".",
    "a/b",
  ].flatMap((name) => ofName(name)),
  ...ofName("", /is malformed|has an entry "" that/),
  ...ofName(".git\\hooks"),
  ...ofName("a\\.git\\hooks"),
  ...[".gitmodules", ".GITMODULES", ".gitmodules ", "gitmod~1", "GITMOD~4", ".git\u200cmodules"]
    .map((
      name,
    ) =>
      ofTree(
        `a link ${JSON.stringify(name)}`,
        rawTree([[Buffer.from(name).toString("latin1"), LINK, blob]]),
        /has an entry .* that must not be a link/,
      )
    ),
  ofTree("entries out of order", rawTree([["b", FILE, blob], ["a", FILE, blob]]), /not in order/),
  ofTree(
    "a folder out of order",
    rawTree([["a", FOLDER, tree], ["a.b", FILE, blob]]),
    /not in order/,
    [tree],
  ),
  ofTree("an entry twice", rawTree([["a", FILE, blob], ["a", FILE, blob]]), /two entries "a"/),
  ofTree(
    "a file and a folder of a name",
    rawTree([["a", FILE, blob], ["a", FOLDER, tree]]),
    /two entries "a"/,
    [tree],
  ),
  ofTree(
    "a file and a folder of a name, apart",
    rawTree([["a", FILE, blob], ["a.b", FILE, blob], ["a", FOLDER, tree]]),
    /two entries "a"/,
    [tree],
  ),
  ...[0, 0o777, 0o40001, 0o40755, 0o10644, 0o60000, 0o140000, 0o7777777].map((mode) =>
    ofTree(`the mode ${mode.toString(8)}`, rawTree([["a", mode, blob]]), /unknown mode|malformed/)
  ),
  ofTree("a tree that is cut", cutTree(), /is malformed/),
  ofTree("a folder that is a file", rawTree([["a", FOLDER, blob]]), /a tree is expected/),
  ofTree("a file that is a folder", rawTree([["a", FILE, tree]]), /a blob is expected/, [tree]),
  ofTree("a file that is a commit", rawTree([["a", FILE, commit]]), /a blob is expected/, [
    commit,
    tree,
  ]),
  ofTree("a file that is missing", rawTree([["a", FILE, rawBlob("y")]]), /The blob .* is missing/),
  ofTree("a folder that is missing", rawTree([["a", FOLDER, tree]]), /The tree .* is missing/),
  ofTree("a path of 5000 bytes", rawTree([["a".repeat(5000), FILE, blob]]), /A path is longer/),
  ofTree("ten to the twelve files", ...manyFiles()),
];

/** Pushes with commits and tags that nobody can read, or that lack something. */
export const BAD_COMMITS: readonly HostilePush[] = [
  ofCommit("an empty commit", "", /has no tree/),
  ofCommit("no tree", `${SIGNED}\nx\n`, /has no tree/),
  ofCommit("two trees", `tree ${tree.hex}\ntree ${tree.hex}\n${SIGNED}\nx\n`, /no author/),
  ofCommit("a tree in capitals", `tree ${tree.hex.toUpperCase()}\n${SIGNED}\nx\n`, /has no tree/),
  ofCommit("a short tree", `tree ${tree.hex.slice(1)}\n${SIGNED}\nx\n`, /has no tree/),
  ofCommit("a tree that is missing", `tree ${ABSENT}\n${SIGNED}\nx\n`, /The tree 1{40} is missing/),
  ofCommit("a tree that is a file", `tree ${blob.hex}\n${SIGNED}\nx\n`, /a tree is expected/),
  ofCommit(
    "a parent that is missing",
    `tree ${tree.hex}\nparent ${ABSENT}\n${SIGNED}\nx\n`,
    /The commit 1{40} is missing/,
  ),
  ofCommit(
    "a parent that is a tree",
    `tree ${tree.hex}\nparent ${tree.hex}\n${SIGNED}\nx\n`,
    /a commit is expected/,
  ),
  ofCommit("no author", `tree ${tree.hex}\ncommitter ${PERSON}\n\nx\n`, /has no author/),
  ofCommit("no committer", `tree ${tree.hex}\nauthor ${PERSON}\n\nx\n`, /no committer/),
  ofCommit(
    "a committer before the author",
    `tree ${tree.hex}\ncommitter ${PERSON}\nauthor ${PERSON}\n\nx\n`,
    /has no author/,
  ),
  ofCommit("a zero byte in a header", `tree ${tree.hex}\nauthor \0\ncommitter x\n\n`, /zero byte/),
  ofCommit("no message", `tree ${tree.hex}\n${SIGNED}`, /no empty line before its message/),
  ofTag("an empty tag", "", /has not the form of a tag/),
  ofTag(
    "a tag of nothing",
    `object ${ABSENT}\ntype commit\ntag eve\n\n`,
    /commit 1{40} is missing/,
  ),
  ofTag("a tag of another kind", `object ${tree.hex}\ntype commit\ntag eve\n\n`, /is expected/),
  ofTag("a tag of an unknown kind", `object ${tree.hex}\ntype file\ntag eve\n\n`, /not the form/),
  ofTag("a tag without a name", `object ${commit.hex}\ntype commit\ntagger x\n\n`, /not the form/),
];

/** Pushes to references that are not theirs to move. */
export function badRefs({ tip }: HostileGround): readonly HostilePush[] {
  return [
    ...[
      "refs/heads/a..b",
      "refs/heads/.a",
      "refs/heads/a.lock",
      "refs/heads/a.lock/b",
      "refs/heads/a b",
      "refs/heads/a~1",
      "refs/heads/a^",
      "refs/heads/a:b",
      "refs/heads/a?b",
      "refs/heads/a*",
      "refs/heads/[a",
      "refs/heads/a\\b",
      "refs/heads/a@{b",
      "refs/heads/a.",
      "refs/heads/a/",
      "refs/heads//a",
      "refs/heads/\x7f",
      "refs/heads/../../config",
      "refs/heads",
      "HEAD",
      "config",
    ].map((ref) => ofRef(ref, /ng .* (?:it is no name that Git allows|this server keeps)/)),
    ...[
      "refs/notes/x",
      "refs/remotes/origin/x",
      "refs/stash",
      "refs/reviews/1/1",
      "refs/pull/1/head",
    ]
      .map((ref) => ofRef(ref, /ng .* this server keeps branches and tags/)),
    ofRef("refs/heads/landing/1", /ng .* only the landing queue/),
    ofRef("refs/heads/release/1", /ng .* (?:protect|admin)/),
    ofRef("refs/heads/workspace/", /ng .* it is no name that Git allows/),
    ofRef("refs/heads/workspace/a/b", /ng .* Invalid workspace name/),
    ofRef("refs/heads/workspace/-a", /ng .* Invalid workspace name/),
    ofRef("refs/heads/workspace/theirs", /ng .* belongs to "other"/),
    ofRef("refs/for/absent", /ng .* there is no branch "absent"/),
    ofRef("refs/for/", /ng .* it is no name that Git allows/),
    ofRef("refs/for/trunk/theirs", /ng .* belongs to "other"/),
    ofRef(`refs/heads/${"a".repeat(1000)}`, /at most 1000 bytes/),
    ofRef("refs/heads/trunk/below", /ng .* refs\/heads\/trunk is there/),
    ofRef("refs/tags/v1/below", /ng .* refs\/tags\/v1 is there/),
    ofRef("refs/heads/topic", /ng .* refs\/heads\/topic\/one is there/),
    ofRef("refs/heads/trunk", /ng .* it has changed meanwhile/),
    ofRef("refs/heads/trunk", /ng .* it has changed meanwhile/, "2".repeat(40)),
    ofRef("refs/heads/trunk", /ng .* non-fast-forward/, tip),
    {
      name: "the end of the main branch",
      commands: [["refs/heads/trunk", null, tip]],
      pack: Buffer.alloc(0),
      answer: /ng .* it is the main branch/,
    },
    {
      name: "the end of a branch that is not there",
      commands: [[EVE, null, tip]],
      pack: Buffer.alloc(0),
      answer: /ng /,
    },
    {
      name: "a branch that is a file",
      commands: [[EVE, blob.hex]],
      pack: whole,
      answer: /a branch is no blob/,
    },
    {
      name: "a branch that is a folder",
      commands: [[EVE, tree.hex]],
      pack: whole,
      answer: /a branch is no tree/,
    },
    {
      name: "a branch that is a tag",
      commands: [[EVE, rawTag(commit, "v", `tagger ${PERSON}\n\nx\n`).hex]],
      pack: rawPack([rawTag(commit, "v", `tagger ${PERSON}\n\nx\n`), commit, tree, blob]),
      answer: /a branch is no tag/,
    },
    {
      name: "a reference twice",
      commands: [[EVE, commit.hex], [EVE, commit.hex]],
      pack: whole,
      answer: /names a reference twice/,
    },
    {
      name: "names in capitals",
      commands: [[EVE, commit.hex.toUpperCase()]],
      pack: whole,
      answer: /no change of a reference/,
    },
    {
      name: "nothing to nothing",
      commands: [[EVE, null]],
      pack: Buffer.alloc(0),
      answer: /no change of a reference/,
    },
    {
      name: "20,001 references",
      commands: Array.from(
        { length: 20_001 },
        (_, place) => [`${EVE}${place}`, commit.hex] as const,
      ),
      pack: whole,
      answer: /at most 20000 references/,
    },
  ];
}

function flipped(bytes: Uint8Array, place: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[place]! ^= 1;
  return copy;
}

function cutTree(): RawObject {
  const made = rawTree([["a", FILE, blob]]);
  return rawObject("tree", made.content.subarray(0, -1));
}

/** Deltas of one base that stand for 480 MB. */
function bombOfDeltas(): readonly RawEntry[] {
  const base = new Uint8Array(8_000_000);
  const deltas = Array.from({ length: 60 }, (_, count): RawEntry => {
    const writer = new DeltaWriter({ base: base.length, result: base.length });
    writer.insert(Uint8Array.of(count + 1));
    writer.copy(1, base.length);
    return { form: { baseOffset: 12 }, content: writer.finish() };
  });
  return [{ form: { kind: "blob" }, content: base }, ...deltas];
}

/** A chain of deltas, each of the one before. */
function chain(length: number): readonly RawEntry[] {
  const numbered = (number: number) => {
    const content = new Uint8Array(100);
    new DataView(content.buffer).setUint32(0, number);
    return rawBlob(content);
  };
  return Array.from({ length }, (_, depth): RawEntry => {
    if (depth === 0) return numbered(0);
    const [before, after] = [numbered(depth - 1), numbered(depth)];
    const content = insertingDelta(before.content, after.content);
    return { form: { baseName: before.name }, content };
  });
}

/** Twelve trees that each name the one below ten times. */
function manyFiles(): readonly [RawObject, RegExp, readonly RawObject[]] {
  const trees = [tree];
  for (let level = 0; level < 12; level++) {
    const below = trees.at(-1)!;
    trees.push(rawTree([..."0123456789"].map((name) => [name, FOLDER, below] as const)));
  }
  return [trees.pop()!, /more than 200000 files/, trees];
}
