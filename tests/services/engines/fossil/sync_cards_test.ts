import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import {
  type Card,
  CardReader,
  CardWriter,
  contentTypeOf,
  encodeUtf8,
  messageFormOf,
  packMessage,
  unpackMessage,
} from "../../../../services/engines/fossil/mod.ts";
import { anyCharacter } from "../../../support/any_character.ts";

const hash = fc.constantFrom(40, 64).chain((length) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
);
const hashOrNone = fc.option(hash, { nil: null });
const content = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom("", "\n", "# no comment\n", "igot x", "a\nfile b 3\n").map(encodeUtf8),
);
const name = fc.constantFrom("a.txt", "deep/er/ü.bin", "-", "#1");
const text = fc.string({ minLength: 1, unit: anyCharacter }).filter((value) =>
  !value.includes("\0")
);
const count = fc.nat({ max: 10 ** 15 - 1 });

const card: fc.Arbitrary<Card> = fc.oneof(
  fc.record({ kind: fc.constant("login" as const), user: text, nonce: hash, signature: hash }),
  fc.record({
    kind: fc.constantFrom("push" as const, "pull" as const),
    serverCode: hash,
    projectCode: hash,
  }),
  fc.constant<Card>({ kind: "clone", version: 1, sequence: 1 }),
  fc.record({ kind: fc.constant("clone" as const), version: fc.constant(3), sequence: count }),
  fc.record({ kind: fc.constant("clone_seqno" as const), next: count }),
  fc.record({ kind: fc.constant("file" as const), hash, source: hashOrNone, content }),
  fc.record({
    kind: fc.constant("cfile" as const),
    hash,
    source: hashOrNone,
    size: count,
    content,
  }),
  fc.constant<Card>({ kind: "private" }),
  fc.record({ kind: fc.constant("igot" as const), hash, isPrivate: fc.boolean() }),
  fc.record({ kind: fc.constant("gimme" as const), hash }),
  fc.record({
    kind: fc.constant("uvigot" as const),
    name,
    time: count,
    hash: hashOrNone,
    size: count,
  }),
  fc.record({ kind: fc.constant("uvgimme" as const), name }),
  fc.record({ name, time: count, hash: hashOrNone, content: fc.option(content, { nil: null }) })
    .map((file): Card => ({
      ...file,
      kind: "uvfile",
      content: file.hash === null ? null : file.content,
      size: file.hash === null ? 0 : file.content?.length ?? 7,
    })),
  fc.record({ kind: fc.constant("reqconfig" as const), name: fc.constant("/project") }),
  fc.record({ kind: fc.constant("config" as const), name: fc.constant("/config"), content }),
  fc.record({ kind: fc.constant("cookie" as const), text: hash }),
  fc.record({
    kind: fc.constant("pragma" as const),
    name: fc.constant("ci-lock"),
    values: fc.array(text, { maxLength: 4 }),
  }),
  fc.record({ kind: fc.constantFrom("message" as const, "error" as const), text }),
);

function written(cards: readonly Card[]): Uint8Array {
  const writer = new CardWriter();
  for (const each of cards) {
    writer.comment("between the cards");
    writer.add(each);
  }
  return writer.bytes();
}

/** Contents as plain arrays, so that views of a message compare with arrays of their own. */
function plain(cards: Iterable<Card>): unknown[] {
  return Array.from(
    cards,
    (each) =>
      "content" in each && each.content !== null
        ? { ...each, content: Array.from(each.content) }
        : { ...each },
  );
}

Deno.test("cards are read as they were written", () => {
  fc.assert(fc.property(fc.array(card, { maxLength: 12 }), (cards) => {
    assert.deepEqual(plain(new CardReader(written(cards))), plain(cards));
  }));
});

Deno.test("any bytes are cards or an error of the engine", () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(card, { minLength: 1, maxLength: 4 }).chain((cards) => {
      const message = written(cards);
      return fc.record({ at: fc.nat(message.length - 1), byte: fc.nat(255) })
        .map(({ at, byte }) => message.with(at, byte));
    }),
  );
  fc.assert(fc.property(noise, (bytes) => {
    try {
      for (const each of new CardReader(bytes)) assert.equal(typeof each.kind, "string");
    } catch (error) {
      assert(error instanceof Error && error.name === "FossilError", String(error));
    }
  }));
});

Deno.test("malformed cards are refused", () => {
  const id = "a".repeat(40);
  const lines = [
    "unknown",
    "file",
    `file ${id}`,
    `file ${id} -1`,
    `file ${id} 01`,
    `file ${id} 1e3`,
    `file ${id} 10\nshort`,
    `file ${id} 99999999999999\n`,
    `file ${"A".repeat(40)} 0`,
    `file ${id} ${id} ${id} 0`,
    `file ${"a".repeat(41)} 0`,
    `cfile ${id} 5`,
    `cfile ${id} 5 6\nabc`,
    `igot ${"g".repeat(40)}`,
    `igot ${id} 1 1`,
    "gimme",
    `gimme ${id} 1`,
    "private yes",
    `push ${id}`,
    "clone 3",
    "clone 3 -1",
    "clone_seqno x",
    `uvfile a 1 ${id} 3 1`,
    "uvfile a 1 - 3 0",
    `uvfile a 1 ${id} 3`,
    `uvigot a b ${id} 3`,
    "uvgimme",
    "config /config",
    "config /config 7\nab",
    "reqconfig",
    "login bob",
    "pragma",
    "error",
    Array.from({ length: 20 }, () => "pragma").join(" "),
  ];
  for (const line of lines) {
    const read = () => Array.from(new CardReader(encodeUtf8(`${line}\n`)));
    assert.throws(read, { code: "invalid" }, line);
  }
  const endless = () => new CardReader(encodeUtf8(`cookie ${"x".repeat(100_000)}`)).next();
  assert.throws(endless, { code: "limit" });
});

Deno.test("a body has the form that its content type says", () => {
  const cards = encodeUtf8("pull 1 2\n");
  for (const form of ["compressed", "plain", "debug"] as const) {
    const type = contentTypeOf(form);
    assert.equal(messageFormOf(type), form);
    assert.equal(messageFormOf(`${type.toUpperCase()}; charset=utf-8`), form);
    assert.deepEqual(unpackMessage(packMessage(cards, form), form, 100), cards);
  }
  for (const type of [null, "", "text/html", "application/x-fossil-other"]) {
    assert.equal(messageFormOf(type), null);
  }
});

Deno.test("a body that declares too much, or has more than it declares, is not inflated", () => {
  const bomb = deflateSync(new Uint8Array(1_000_000));
  const body = new Uint8Array(4 + bomb.length);
  body.set(bomb, 4);
  const view = new DataView(body.buffer);
  view.setUint32(0, 1_000_000);
  assert.throws(() => unpackMessage(body, "compressed", 1000), { code: "limit" });
  view.setUint32(0, 1000);
  assert.throws(() => unpackMessage(body, "compressed", 1000), { code: "corrupt" });
  assert.throws(() => unpackMessage(new Uint8Array(2), "compressed", 1000), { code: "corrupt" });
});
