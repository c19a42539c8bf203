import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Artifact,
  encodeUtf8,
  explainArtifact,
  type FileCard,
  findFileCard,
  formatArtifact,
  isFileName,
  isReservedFileName,
  isTagName,
  isWikiTitle,
  KnownFiles,
  md5,
  parseArtifact,
  type TagCard,
} from "../../../../services/engines/fossil/mod.ts";
import { judged } from "./support/judges.ts";
import { Scratch } from "./support/fossil.ts";

const text = fc.string({ unit: "grapheme", maxLength: 30 }).map((s) => s.replaceAll("\0", ""));
const word = text.filter((s) => s !== "");
const hex = fc.constantFrom(..."0123456789abcdef");
const sha1 = fc.string({ unit: hex, minLength: 40, maxLength: 40 });
const hash = fc.oneof(sha1, fc.string({ unit: hex, minLength: 64, maxLength: 64 }));
const date = fc.integer({ min: Date.UTC(1990), max: Date.UTC(2100) });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const fileName = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"))
  .filter((name) => isFileName(name) && !isReservedFileName(name));
const fileCard: fc.Arbitrary<FileCard> = fc.record({
  name: fileName,
  hash,
  mode: fc.constantFrom("file", "executable", "link"),
  oldName: optional(fileName),
});
const title = word.filter(isWikiTitle);
const sign = fc.constantFrom("+", "*", "-");
const value = optional(word);
const tagName = word.filter(isTagName);
const tag: fc.Arbitrary<TagCard> = fc.record({
  sign,
  name: tagName,
  target: optional(hash),
  value,
});
const unique = <T>(item: fc.Arbitrary<T>, key: (item: T) => string) =>
  fc.uniqueArray(item, { selector: key, maxLength: 6 });
const tags = unique(tag, (t) => `${t.sign}${t.name} ${t.target}`);
const mimetype = optional(fc.constantFrom("text/plain", "text/x-markdown"));
const parents = fc.uniqueArray(hash, { maxLength: 3 });
const user = word;

const artifact: fc.Arbitrary<Artifact> = fc.oneof(
  fc.record({
    kind: fc.constant("manifest" as const),
    baseline: fc.constant(null),
    comment: text,
    date,
    files: unique(fileCard, (file) => file.name),
    mimetype,
    parents,
    cherrypicks: fc.array(fc.record({ hash, backout: fc.boolean(), base: optional(hash) }), {
      maxLength: 2,
    }),
    checksum: optional(fc.constant(md5("x"))),
    tags,
    user: optional(user),
  }),
  fc.record({
    kind: fc.constant("cluster" as const),
    members: fc.uniqueArray(hash, { minLength: 1, maxLength: 9 }),
  }),
  fc.record({
    kind: fc.constant("control" as const),
    date,
    tags: unique(
      fc.record({ sign, name: tagName, target: hash, value }),
      (t) => `${t.sign}${t.name} ${t.target}`,
    ).filter((list) => list.length > 0),
    user,
  }),
  fc.record({
    kind: fc.constant("wiki" as const),
    comment: optional(text),
    date,
    title,
    mimetype,
    parents,
    user,
    text,
  }),
  fc.record({
    kind: fc.constant("ticket" as const),
    date,
    fields: unique(
      fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), value: text, append: fc.boolean() }),
      (field) => `${field.append}${field.name}`,
    ).filter((list) => list.length > 0),
    ticket: sha1,
    user,
  }),
  fc.record({
    kind: fc.constant("attachment" as const),
    name: word.filter((name) => isFileName(name) && !name.includes("/")),
    target: fc.oneof(title, hash),
    source: optional(hash),
    comment: optional(text),
    date,
    mimetype,
    user: optional(user),
  }),
  fc.record({
    kind: fc.constant("technote" as const),
    comment: optional(text),
    date,
    eventDate: date,
    id: sha1,
    mimetype,
    parents,
    tags: unique(
      fc.record({
        sign: fc.constant("+" as const),
        name: tagName,
        target: fc.constant(null),
        value,
      }),
      (t) => t.name,
    ),
    user: optional(user),
    text,
  }),
  fc.record({
    kind: fc.constant("forum" as const),
    date,
    root: optional(hash),
    title: optional(text),
    inReplyTo: optional(hash),
    mimetype,
    parents: fc.array(hash, { maxLength: 1 }),
    user,
    text,
  }).map((post) =>
    post.title === null
      ? { ...post, root: post.root ?? md5("r") + "00000000" }
      : { ...post, inReplyTo: null }
  ),
);

/** The artifact with the cards that the writer sorts in one order, so that two can be compared. */
function canonical(value: Artifact | null): Record<string, unknown> {
  const plain = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  for (const key of ["files", "tags", "members", "fields"]) {
    const cards = plain[key];
    if (Array.isArray(cards)) plain[key] = cards.map(sortedEntries).sort();
  }
  return plain;
}

function sortedEntries(card: unknown): string {
  return typeof card === "string" ? card : JSON.stringify(Object.entries(card ?? {}).sort());
}

/** Lines, with the checksum that belongs to them. */
function sealed(...lines: string[]): Uint8Array {
  const body = lines.map((line) => `${line}\n`).join("");
  return encodeUtf8(`${body}Z ${md5(body)}\n`);
}

Deno.test("formatArtifact() and parseArtifact() are inverse for every kind", () => {
  fc.assert(
    fc.property(artifact, (value) => {
      const bytes = formatArtifact(value);
      const parsed = parseArtifact(bytes);
      assert.deepEqual(canonical(parsed), canonical(value));
      assert.deepEqual(parsed && formatArtifact(parsed), bytes);
    }),
    { numRuns: 400 },
  );
});

Deno.test("parseArtifact() gives the same result for manifests with cached lines", () => {
  const hashes = ["a", "b"].map((digit) => digit.repeat(40));
  const line = fc.record({
    name: fc.constantFrom("a", "b", "c d", "ü", "_FOSSIL_", "../up"),
    hash: fc.constantFrom(...hashes, "short"),
    rest: fc.constantFrom("", " x", " w old"),
  }).map(({ name, hash, rest }) => `F ${name.replaceAll(" ", "\\s")} ${hash}${rest}`);
  const manifest = fc.tuple(fc.array(line, { maxLength: 4 }), fc.boolean());
  fc.assert(fc.property(fc.array(manifest, { maxLength: 10 }), (manifests) => {
    const files = new KnownFiles();
    for (const [lines, isSorted] of manifests) {
      const cards = isSorted ? lines.toSorted() : lines;
      const bytes = sealed("C x", "D 2026-01-02T03:04:05", ...cards, "U u");
      assert.deepEqual(explainArtifact(bytes, { files }), explainArtifact(bytes));
    }
  }));
});

Deno.test("findFileCard() finds what the parser finds, or leaves it to the parser", () => {
  fc.assert(fc.property(artifact, fileName, (value, other) => {
    fc.pre(value.kind === "manifest");
    const bytes = formatArtifact(value);
    const parsed = parseArtifact(bytes);
    const files = parsed?.kind === "manifest" ? parsed.files : [];
    for (const file of files) assert.deepEqual(findFileCard(bytes, file.name), file);
    if (!files.some(({ name }) => name === other)) assert.equal(findFileCard(bytes, other), null);
  }));
});

Deno.test("parseArtifact() treats an artifact with a changed byte as a file", () => {
  fc.assert(fc.property(artifact, fc.nat(), fc.nat(255), (value, at, byte) => {
    const bytes = formatArtifact(value);
    const place = at % bytes.length;
    fc.pre(bytes[place] !== byte);
    bytes[place] = byte;
    const parsed = parseArtifact(bytes);
    assert.ok(parsed === null || parsed.kind === "manifest" || byte !== 0x5a);
  }));
});

Deno.test("parseArtifact() refuses what the grammar does not allow", () => {
  const hashA = "a".repeat(40);
  const d = "D 2026-01-02T03:04:05";
  const cases: Record<string, Uint8Array> = {
    "card order": sealed(d, "C x"),
    "double card": sealed("C x", "C y", d),
    "double space": sealed("C x", d, `F  a ${hashA}`),
    "file order": sealed("C x", d, `F b ${hashA}`, `F a ${hashA}`),
    "file twice": sealed("C x", d, `F a ${hashA}`, `F a ${hashA}`),
    "path upwards": sealed("C x", d, `F ../a ${hashA}`),
    "absolute path": sealed("C x", d, `F /a ${hashA}`),
    "deleted file without baseline": sealed("C x", d, "F a"),
    "short hash": sealed("C x", d, "F a abc"),
    "tag like a hash": sealed("C x", d, "T +dead *", "U u"),
    "tag without sign": sealed("C x", d, "T sym-a *", "U u"),
    "control on itself": sealed(d, "T +a-tag *", "U u"),
    "technote with propagating tag": sealed(
      d,
      `E 2026-01-01 ${hashA}`,
      "T *x-tag *",
      "U u",
      "W 0",
      "",
    ),
    "title and reply": sealed(d, `G ${hashA}`, "H t", `I ${hashA}`, "U u", "W 0", ""),
    "wiki without user": sealed(d, "L T", "W 0", ""),
    "text too long": sealed(d, "L T", "U u", "W 99", ""),
    "card of another kind": sealed(d, "J a b", `K ${hashA}`, "L T", "U u"),
    "no date": sealed("C x", "U u"),
    "malformed date": sealed("C x", "D yesterday", "U u"),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    const { artifact, reason } = explainArtifact(bytes);
    assert.equal(artifact, null, name);
    assert.equal(typeof reason, "string", name);
  }
  assert.equal(parseArtifact(new Uint8Array(0)), null);
  assert.equal(parseArtifact(encodeUtf8("C no end")), null);
});

Deno.test("parseArtifact() tolerates the deviations in historical artifacts", () => {
  const hashA = "a".repeat(40);
  const d = "D 2026-01-02T03:04:05";
  const swapped = sealed(
    d,
    `E 2026-01-01 ${hashA}`,
    `P ${hashA}`,
    "N text/plain",
    "U u",
    "W 1",
    "x",
  );
  assert.equal(parseArtifact(swapped)?.kind, "technote");
  const root = parseArtifact(sealed("C x", d, "P", "U"));
  assert.deepEqual(root?.kind === "manifest" && [root.parents, root.user], [[], "anonymous"]);
  const reserved = parseArtifact(sealed("C x", d, `F _FOSSIL_ ${hashA}`, "U u"));
  assert.deepEqual(reserved?.kind === "manifest" && reserved.files, []);
  const nul = parseArtifact(sealed(d, "L T", "U u", "W 3", "a\0b"));
  assert.equal(nul?.kind === "wiki" && nul.text, "a");
});

Deno.test("parseArtifact() reads clear-signed artifacts and delta manifests", () => {
  const manifest = new TextDecoder().decode(
    sealed(
      `B ${"b".repeat(64)}`,
      "C x",
      "D 2026-01-02T03:04:05",
      "F gone",
      `F new ${"a".repeat(40)}`,
    ),
  );
  for (const program of ["PGP", "SSH"]) {
    const signed = `-----BEGIN ${program} SIGNED MESSAGE-----\nHash: SHA256\n\n${manifest}` +
      `-----BEGIN ${program} SIGNATURE-----\n\nabc\n-----END ${program} SIGNATURE-----\n`;
    const parsed = parseArtifact(encodeUtf8(signed));
    assert.equal(parsed?.kind, "manifest");
    assert.ok(parsed?.kind === "manifest");
    assert.deepEqual(parsed.files.map((file) => [file.name, file.hash === null]), [
      ["gone", true],
      ["new", false],
    ]);
  }
});

Deno.test("formatArtifact() refuses values that could not be parsed back", () => {
  const base = { kind: "wiki", comment: null, date: 0, mimetype: null, parents: [] } as const;
  const wiki = { ...base, user: "u", text: "t" };
  assert.throws(() => formatArtifact({ ...wiki, title: " x" }), { code: "invalid" });
  const control = { kind: "control", date: 0, user: "u" } as const;
  const tagged = { sign: "+", name: "cafe", target: "a".repeat(40), value: null } as const;
  assert.throws(() => formatArtifact({ ...control, tags: [tagged] }), { code: "invalid" });
});

judged("fossil reads every artifact that formatArtifact() writes, and no other", (program) => {
  using scratch = new Scratch(program);
  const samples = fc.sample(artifact, { numRuns: 60, seed: 3 }).map((value) =>
    formatArtifact(value)
  );
  const broken = samples.slice(0, 20).map((bytes, i) => {
    const lines = new TextDecoder().decode(bytes).split("\n").slice(0, -2);
    const mutated = lines.toSpliced(i % lines.length, i % 2, ...(i % 2 ? [] : ["C x y"]));
    return sealed(...mutated);
  });
  for (const bytes of [...samples, ...broken]) {
    const path = scratch.write("artifact", bytes);
    const { stdout } = scratch.run(["test-parse-manifest", path]);
    const accepted = stdout.includes("manifest_parse() worked");
    const source = new TextDecoder().decode(bytes);
    assert.equal(parseArtifact(bytes) !== null, accepted, `${source}\n${stdout}`);
  }
});
