/** A hostile pusher who breaks the protocol: sizes, bombs, malformed cards, logins, names of files. */
import assert from "node:assert/strict";
import {
  type Card,
  createDelta,
  encodeUtf8,
  packBlob,
  sha1,
  sha3,
  signNonce,
} from "../../../../services/engines/fossil/mod.ts";
import {
  type Attempt,
  deltaOf,
  fileOf,
  hashOf,
  hostile,
  HostileScene,
  lineOf,
} from "../../../support/hostile_pusher.ts";
import { THOROUGH } from "../../../support/level.ts";

const CONTENT = encodeUtf8("content\n".repeat(20));
const [ONE, TWO] = [sha3("one"), sha3("two")];
const ABSENT = /names [0-9a-f]{64}, which is neither in the project nor in this push/;

hostile("hostile pushes: sizes, hashes and deltas", (scene) => {
  const bomb = packBlob(new Uint8Array(8 * 1024 * 1024));
  const liar = packBlob(CONTENT).slice();
  new DataView(liar.buffer).setUint32(0, 0xffff_fff0);
  const delta = (hash: string, source: string, content: Uint8Array): Card => (
    { kind: "file", hash, source, content }
  );
  const huge = encodeUtf8("~~~~~~\n0:0;");
  const large = encodeUtf8("EugA0\n1:x0;");
  const file = (hash: string, content: Uint8Array): Card => (
    { kind: "file", hash, source: null, content }
  );
  const packed = (content: Uint8Array, size = CONTENT.length): Card => (
    { kind: "cfile", hash: sha3(CONTENT), source: null, size, content }
  );
  const chained = createDelta(encodeUtf8("x".repeat(99)), CONTENT);
  const forged = scene.checkin(scene.trunk, { user: "other", comment: "content\n".repeat(20) });
  const members = Array.from({ length: 20_001 }, (_, index) => sha3(String(index))).sort();
  return [
    { name: "wrong hash", refusal: /does not have the hash/, cards: [file(ONE, CONTENT)] },
    {
      name: "wrong hash of SHA1",
      refusal: /does not have the hash/,
      cards: [file(sha1("x"), CONTENT)],
    },
    { name: "bomb in a card", refusal: /does not have the hash/, cards: [packed(bomb)] },
    { name: "declared length in a card", refusal: /./, cards: [packed(liar)] },
    { name: "no zlib in a card", refusal: /./, cards: [packed(encodeUtf8("\0\0\0\x10garbage!"))] },
    { name: "empty packed card", refusal: /./, cards: [packed(new Uint8Array(0))] },
    {
      name: "small deltas of 250 MB each",
      refusal: /The artifacts of a message have at most 2147483648 bytes together/,
      cards: Array.from({ length: 9 }, (_, index) => delta(sha3(`${index}`), TWO, large)),
    },
    { name: "delta of a huge size", refusal: /./, cards: [delta(ONE, TWO, huge)] },
    {
      name: "no delta",
      refusal: /./,
      cards: [delta(ONE, sha3(CONTENT), CONTENT), fileOf(CONTENT)],
    },
    { name: "delta of itself", refusal: /depends on itself/, cards: [delta(ONE, ONE, chained)] },
    {
      name: "deltas of each other",
      refusal: /depends on itself/,
      cards: [delta(ONE, TWO, chained), delta(TWO, ONE, chained)],
    },
    {
      name: "delta of another text",
      refusal: /does not have the hash|delta/i,
      cards: [fileOf(encodeUtf8("y".repeat(99))), delta(ONE, sha3("y".repeat(99)), chained)],
    },
    {
      name: "content that ends early",
      refusal: /ends in the content/,
      raw: lineOf(
        scene,
        `file ${ONE} 99999999\nshort`,
      ),
    },
    {
      name: "a size that is no number",
      refusal: /bad command/,
      raw: lineOf(scene, `file ${ONE} -1`),
    },
    {
      name: "a size beyond numbers",
      refusal: /bad command/,
      raw: lineOf(
        scene,
        `file ${ONE} 99999999999999999999`,
      ),
    },
    {
      name: "phantoms",
      refusal: null,
      cards: [
        fileOf({ kind: "cluster", members }),
      ],
    },
    {
      name: "announced names",
      refusal: null,
      cards: members.slice(0, 5000).map((hash) => (
        { kind: "igot", hash, isPrivate: false }
      )),
    },
    {
      name: "a delta of a forged check-in",
      refusal: /names the user "other"/,
      refused: hashOf(forged),
      cards: [fileOf(CONTENT), deltaOf(forged, CONTENT)],
    },
  ];
});

hostile("hostile pushes: malformed cards", (scene) => {
  const bad = (name: string, text: string | Uint8Array, refusal = /bad command/): Attempt => (
    { name, refusal, raw: lineOf(scene, text) }
  );
  const config = (name: string, text: string): Attempt => ({
    name: `config ${name}`,
    refusal: /not authorized to push configuration/,
    cards: [{ kind: "config", name, content: encodeUtf8(text) }],
  });
  const user = "1 'mallory' pw 'x' cap 's' info ''";
  return [
    bad("an unknown card", "exec /bin/sh"),
    bad("a long line", `igot ${"a".repeat(70_000)}`, /too long/),
    bad("NUL", `igot ${ONE}\0`),
    bad("invalid UTF-8", new Uint8Array([0x69, 0x67, 0x6f, 0x74, 0x20, 0xff, 0xfe, 0x0a])),
    bad("many tokens", `igot ${"a ".repeat(100)}`),
    bad("a hash in upper case", `igot ${ONE.toUpperCase()}`),
    bad("a path as a hash", "gimme ../../etc/passwd"),
    bad("bytes", crypto.getRandomValues(new Uint8Array(1000)).map((byte) => byte | 0x80), /./),
    bad("a clone before the first row", "clone 3 0", /invalid clone sequence/),
    bad("20,000 unknown cards", "nonsense\n".repeat(20_000)),
    config("/user", user),
    config("/config", "1 'ssh-command' value '/bin/sh'"),
    config("/ticket", "1 'ticket-table' value 'DROP TABLE blob'"),
    config("/shun", `1 '${scene.trunk}' scom ''`),
    config("@all", user),
    { name: "settings of users", refusal: null, cards: [{ kind: "reqconfig", name: "/user" }] },
    {
      name: "another project",
      refusal: /wrong project/,
      isBare: true,
      cards: [{ kind: "push", serverCode: "a".repeat(40), projectCode: "b".repeat(40) }],
    },
    {
      name: "a file before the push card",
      refusal: /not authorized to write/,
      isBare: true,
      cards: [fileOf(CONTENT)],
    },
    {
      name: "a private artifact",
      refusal: /private/,
      cards: [{ kind: "private" }, fileOf(scene.checkin(scene.feature))],
    },
    {
      name: "private artifacts asked for",
      refusal: /private/,
      cards: [{ kind: "pragma", name: "send-private", values: [] }],
    },
    {
      name: "a lock on what is no check-in",
      refusal: null,
      cards: [{ kind: "pragma", name: "ci-lock", values: ["x", "'; DROP TABLE config; --"] }],
    },
    {
      name: "a lock that was never taken",
      refusal: null,
      cards: [{ kind: "pragma", name: "ci-unlock", values: [ONE] }],
    },
  ];
});

hostile("hostile pushes: logins", (scene) => {
  const password = scene.test.caller.slice("Bearer ".length);
  const cards = [fileOf(CONTENT)];
  const login = (user: string, nonce: string, signature: string): Card => (
    { kind: "login", user, nonce, signature }
  );
  const nonce = sha1("another message");
  const cookie = (value: string): Attempt => ({
    name: `cookie ${value}`,
    refusal: /not authorized|login/,
    cards,
    isUnsigned: true,
    headers: { cookie: `x-f-l-c=${value}` },
  });
  return [
    { name: "none", refusal: /not authorized/, cards, isUnsigned: true },
    {
      name: "wrong password",
      refusal: /login failed|not authorized|Unknown|wrong|credential/i,
      cards,
      login: { user: "caller", password: "f".repeat(40) },
    },
    { name: "the token of another name", refusal: /./, cards, login: { user: "other", password } },
    {
      name: "a replayed nonce",
      refusal: /login failed/,
      cards: [
        login("caller", nonce, signNonce(nonce, password)),
        { kind: "push", serverCode: "a".repeat(40), projectCode: scene.projectCode },
        ...cards,
      ],
      isBare: true,
      isUnsigned: true,
    },
    {
      name: "two logins",
      refusal: /multiple login cards/,
      cards: [login("caller", nonce, signNonce(nonce, password)), ...cards],
    },
    cookie("%zz"),
    cookie("login+caller"),
    cookie("%00%ff"),
    cookie("login+caller+%F0%9F%92%A9+x"),
    {
      name: "no member",
      refusal: /not authorized|login failed/,
      cards,
      login: { user: "stranger-1", password: scene.test.outsider.slice("Bearer ".length) },
    },
  ];
});

Deno.test(
  "a body that is a bomb, garbage or of another type is refused before it is unpacked",
  THOROUGH,
  async () => {
    await HostileScene.run(async (scene) => {
      const bomb = packBlob(new Uint8Array(8 * 1024 * 1024));
      const declares = (length: number) => {
        const body = bomb.slice();
        new DataView(body.buffer).setUint32(0, length);
        return body;
      };
      const garbage = encodeUtf8("\0\0\0\x10garbage that is no zlib stream");
      for (const body of [declares(0xffff_fff0), declares(16), garbage, new Uint8Array(3)]) {
        assert.match(await scene.sendBody(body), /^200 error /);
      }
      assert.match(await scene.sendBody(encodeUtf8("push a b\n"), "application/json"), /^4\d\d /);
      await scene.honest(scene.checkin(scene.feature));
    });
  },
);

Deno.test("shunned content is passed over, because honest clients may still have it", async () => {
  await HostileScene.run(async (scene) => {
    const { project, api } = scene.test;
    const path = api.services.hosting.repositories.files.pathOf(project);
    await scene.test.client.fossil([
      "sql",
      "-R",
      path,
      `INSERT INTO shun(uuid,mtime,scom) VALUES('${sha3(CONTENT)}',1,'')`,
    ]);
    await scene.attempt({ name: "shunned", refusal: null, cards: [fileOf(CONTENT)] });
    const delta: Card = {
      kind: "file",
      hash: ONE,
      source: sha3(CONTENT),
      content: createDelta(CONTENT, encodeUtf8("other")),
    };
    await scene.attempt({ name: "delta of shunned", refusal: null, cards: [delta] });
  });
});

Deno.test("a delta of private content tells a writer nothing of it", async () => {
  await HostileScene.run(async (scene) => {
    const { client, file } = scene.test;
    await scene.honest(CONTENT);
    const sql = `INSERT INTO private SELECT rid FROM blob WHERE uuid='${sha3(CONTENT)}';
      DELETE FROM unclustered WHERE rid IN (SELECT rid FROM private)`;
    await client.fossil(["sql", "-R", file, sql]);
    const answers: unknown[] = [];
    for (const guess of ["c", "d"]) {
      // It copies the first byte of the private content.
      const content = encodeUtf8("1\n1@0,0;");
      const delta: Card = { kind: "file", hash: sha3(guess), source: sha3(CONTENT), content };
      await scene.attempt({ name: `guess ${guess}`, refusal: ABSENT, cards: [delta] });
      const { cards, errors } = await scene.send({ cards: [delta] });
      const shape = cards.map((card) => card.kind === "gimme" ? [card.hash === sha3(guess)] : []);
      answers.push([shape, errors.map((error) => error.replace(sha3(guess).slice(0, 10), ""))]);
    }
    assert.deepEqual(answers[0], answers[1]);
    const rest = deltaOf(encodeUtf8("content\n".repeat(21)), CONTENT);
    await scene.attempt({ name: "a delta before its source", refusal: ABSENT, cards: [rest] });
    const { cards } = await scene.send({ cards: [fileOf(CONTENT), rest] });
    assert.ok(!cards.some(({ kind }) => kind === "gimme" || kind === "error"));
  });
});

Deno.test("a writer cannot make an awaited file private", async () => {
  await HostileScene.run(async (scene) => {
    const hash = sha3(CONTENT);
    const files = [{ name: "a", hash, mode: "file", oldName: null } as const];
    const awaiting = fileOf(scene.checkin(scene.feature, { files }));
    await scene.attempt({ name: "without its file", refusal: ABSENT, cards: [awaiting] });
    const cards: readonly Card[] = [{ kind: "igot", hash, isPrivate: true }];
    await scene.attempt({ name: "announced as private", refusal: null, cards });
    await scene.honest(CONTENT, scene.checkin(scene.feature, { files }));
  });
});

Deno.test("a wrong delta of content that has not come yet does not keep it away", async () => {
  await HostileScene.run(async (scene) => {
    const content = createDelta(CONTENT, encodeUtf8("something else"));
    const wrong: Card = { kind: "file", hash: ONE, source: sha3(CONTENT), content };
    await scene.attempt({ name: "before its source", refusal: ABSENT, cards: [wrong] });
    await scene.honest(CONTENT);
    await scene.honest(encodeUtf8("one"));
  });
});
