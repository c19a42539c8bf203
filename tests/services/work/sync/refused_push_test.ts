/** A refused push leaves nothing, names what is missing, and keeps nobody from pushing other work. */
import assert from "node:assert/strict";
import {
  type Artifact,
  type Card,
  createDelta,
  encodeUtf8,
  formatArtifact,
  Repository,
  sha3,
} from "../../../../services/engines/fossil/mod.ts";
import { commitFiles } from "../../../support/projects.ts";
import { fileOf, hashOf, HostileScene, starting, tag } from "../../../support/hostile_pusher.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

/** What must not be in the server's file after a refusal. */
const REMAINS = `SELECT (SELECT count(*) FROM phantom),
  (SELECT count(*) FROM delta WHERE srcid NOT IN (SELECT rid FROM blob WHERE size>=0)),
  (SELECT count(*) FROM attachment WHERE src<>'' AND src NOT IN (SELECT uuid FROM blob))`;

async function assertNoRemains({ client, file, assertSound }: SyncTest): Promise<void> {
  assert.equal((await client.fossil(["sql", "-R", file, REMAINS])).trim(), "0,0,0");
  await assertSound();
}

async function comments({ answer }: SyncTest): Promise<string[]> {
  const { checkins } = await answer("GET /api/timeline?per_page=100");
  return checkins.map(({ comment }: { readonly comment: string }) => comment);
}

/** A check-in whose number of bytes is worth a delta. */
function long(comment: string): string {
  return `${comment} ${"word ".repeat(60)}`;
}

judged("a clone with refused check-ins of every kind pushes its allowed work", async (fossil) => {
  await withSync(fossil, async (test) => {
    const { client, answer } = test;
    const files = Array.from({ length: 30 }, (_, at) => [`files/${at}.txt`, `${at}\n`.repeat(30)]);
    const base = await commitFiles(test, Object.fromEntries(files));
    const work = await client.checkout(test.url);
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "nobody" }] });
    await client.fossil(["set", "autosync", "off"], work);
    const run = (...args: string[]) => client.fossil(args, work);
    let count = 0;
    const commit = (...args: string[]) => {
      client.write(`work/files/${count % 30}.txt`, `${count++}\n`.repeat(40));
      return run("commit", "--no-warnings", ...args);
    };
    // `fossil push` ends with 0 even so.
    const refuses = async (sentence: RegExp) => {
      const { stdout, stderr } = await client.run(["push"], work);
      assert.match(stdout + stderr, sentence);
      await assertNoRemains(test);
    };
    await commit("-m", "refused one");
    await refuses(/"trunk" is refused: nobody can push/);
    await commit("-m", "refused two");
    await refuses(/"trunk" is refused: nobody can push/);
    // It continues what was refused.
    await commit("-m", "refused three", "--branch", "mine");
    await run("tag", "add", "refused-tag", "mine");
    await refuses(/"trunk" is refused: nobody can push/);
    await run("update", base);
    await commit("-m", "of another user", "--branch", "other", "--user-override", "nobody");
    await refuses(/nobody/);
    await run("update", base);
    await commit("-m", "allowed one", "--branch", "feature");
    await run("tag", "add", "allowed-tag", "feature");
    await run("ticket", "add", "title", "An allowed ticket", "status", "Open");
    await refuses(/is refused|names the user/);
    await commit("-m", "allowed two");
    await refuses(/is refused|names the user/);
    const pushed = await comments(test);
    assert.deepEqual(pushed.filter((comment) => /refused|another/.test(comment)), []);
    assert.deepEqual(pushed.slice(0, 2), ["allowed two", "allowed one"]);
    assert.equal((await answer("GET /api/tickets")).tickets[0].title, "An allowed ticket");
    const { tags } = await answer("GET /api/tags");
    assert.deepEqual(tags.map(({ name }: { readonly name: string }) => name), ["allowed-tag"]);
    await client.fossil(["clone", "--save-http-password", test.otherUrl, "late.fossil"]);
    await test.assertSound(client.path("late.fossil"));
    // Once they are allowed, the same clone brings the rest.
    await answer("PUT /api/protection", { body: [] });
    await client.run(["push"], work);
    assert.equal((await comments(test)).filter((comment) => /refused/.test(comment)).length, 3);
    await assertNoRemains(test);
  });
});

judged(
  "a refusal in the middle of several rounds keeps back only what it is about",
  async (fossil) => {
    await withSync(fossil, async (test) => {
      const { client, answer } = test;
      await commitFiles(test, { "README.md": "text\n".repeat(40) });
      const work = await client.checkout(test.url);
      await answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "nobody" }] });
      await client.fossil(["set", "autosync", "off"], work);
      await client.fossil(["set", "max-upload", "20000"], work);
      const commit = async (name: string, ...args: string[]) => {
        const random = crypto.getRandomValues(new Uint8Array(9000));
        for (let at = 0; at < 4; at++) {
          client.write(`work/${name}-${at}.bin`, random.map((byte) => byte ^ at));
        }
        await client.fossil(["addremove"], work);
        await client.fossil(["commit", "-m", name, "--no-warnings", ...args], work);
      };
      await commit("before", "--branch", "feature");
      await commit("middle", "--branch", "other", "--user-override", "nobody");
      await client.fossil(["update", "feature"], work);
      await commit("after");
      const { stdout, stderr } = await client.run(["push"], work);
      assert.match(stdout + stderr, /names the user "nobody"/);
      assert.deepEqual((await comments(test)).slice(0, 2), ["after", "before"]);
      await assertNoRemains(test);
    });
  },
);

judged("refused check-ins that fill several messages keep back nothing else", async (fossil) => {
  await withSync(fossil, async (test) => {
    const { client, answer } = test;
    const base = await commitFiles(test, { "README.md": "text\n".repeat(40) });
    const work = await client.checkout(test.url);
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "nobody" }] });
    await client.fossil(["set", "autosync", "off"], work);
    await client.fossil(["set", "max-upload", "20000"], work);
    const commit = async (comment: string, ...args: string[]) => {
      client.write("work/README.md", `${comment}\n`);
      const message = client.write("message.txt", comment);
      await client.fossil(["commit", "-M", message, "--no-warnings", ...args], work);
    };
    const random = () =>
      Array.from(crypto.getRandomValues(new Uint8Array(5000)), (byte) => byte.toString(36)).join(
        "",
      );
    for (let at = 0; at < 6; at++) await commit(`refused ${random()}`);
    await client.fossil(["update", base], work);
    for (let at = 0; at < 6; at++) {
      await commit(`allowed ${at} ${random()}`, ...at === 0 ? ["--branch", "feature"] : []);
    }
    for (let times = 0; times < 2; times++) {
      const { stdout, stderr } = await client.run(["push"], work);
      assert.equal((stdout + stderr).match(/Error: .*"trunk" is refused/g)?.length, 1);
      const pushed = await comments(test);
      assert.deepEqual(pushed.filter((comment) => comment.startsWith("refused")), []);
      assert.equal(pushed.filter((comment) => comment.startsWith("allowed")).length, 6);
      await assertNoRemains(test);
    }
  });
});

judged(
  "a check-in that tags what nobody has is refused by its name, until an admin brings it",
  async (fossil) => {
    await withSync(fossil, async (test) => {
      const { client } = test;
      const tip = await commitFiles(test, { "README.md": "text\n".repeat(40) });
      const work = await client.checkout(test.url);
      await client.fossil(["set", "autosync", "off"], work);
      const branch = (
        name: string,
      ) => ["--branch", name, "--no-warnings", "--allow-empty", "-m", name];
      await client.fossil(["commit", ...branch("before")], work);
      await client.fossil(["update", "trunk"], work);
      const absent = sha3("a private check-in");
      // As Fossil up to 2.10 wrote it after the merge of a private branch.
      const old: Artifact = {
        kind: "manifest",
        baseline: null,
        comment: long("old"),
        date: Date.now(),
        files: [],
        mimetype: null,
        parents: [tip],
        cherrypicks: [],
        checksum: null,
        tags: [...starting("old", "trunk"), tag("+", "closed", absent)],
        user: "caller",
      };
      const young = {
        ...old,
        comment: long("young"),
        parents: [hashOf(old)],
        tags: [],
      } as Artifact;
      const clone = Repository.open(client.path("work.fossil"));
      clone.write({ user: "caller", ip: null }, () => {
        for (const artifact of [old, young]) {
          clone.receive(formatArtifact(artifact), { hash: hashOf(artifact) });
        }
      });
      clone.close();
      for (let times = 0; times < 2; times++) {
        const { stdout, stderr } = await client.run(["push"], work);
        assert.match(stdout + stderr, new RegExp(`names ${absent}.*admin of the project`));
        assert.deepEqual((await comments(test))[0], "before");
        await assertNoRemains(test);
      }
      await test.api.services.hosting.projects.setMember("demo", "caller", "admin", BY_OPERATOR);
      const request = { owner: "caller", name: "admin", project: null, expires_at: null };
      const scopes = ["admin" as const];
      const { token } = await test.api.services.tokens.create(
        Object.assign({ scopes }, request),
        BY_OPERATOR,
      );
      const url = new URL(test.url);
      url.password = token;
      await client.fossil(["push", "--once", url.href], work);
      await client.fossil(["update", "before"], work);
      await client.fossil(["commit", ...branch("later")], work);
      await client.fossil(["push"], work);
      const pushed = await comments(test);
      for (
        const comment of [old.comment, young.kind === "manifest" ? young.comment : "", "later"]
      ) {
        assert.ok(pushed.some((other) => other.trim() === comment?.trim()), comment ?? "");
      }
    });
  },
);

Deno.test("what names something that nobody has is refused with its name, and leaves nothing", async () => {
  await HostileScene.run(async (scene) => {
    const absent = sha3("absent");
    const { feature, now: date } = scene;
    const common = { date, user: "caller", mimetype: null, comment: null } as const;
    const attachment: Artifact = {
      kind: "attachment",
      name: "a.txt",
      target: "Home",
      source: absent,
      ...common,
    };
    const post = { kind: "forum", text: "x", parents: [], ...common } as const;
    const file = { name: "a", hash: absent, mode: "file", oldName: null } as const;
    const sealed: Readonly<Record<string, Artifact>> = {
      "a tag": scene.control(tag("+", "closed", absent)),
      "a tag of a check-in": scene.checkin(feature, { tags: [tag("+", "closed", absent)] }),
      "a file": scene.checkin(feature, { files: [file] }),
      "a parent": scene.checkin(absent, { tags: starting("new") }),
      "a merged parent": scene.checkin(feature, { parents: [feature, absent] }),
      "a baseline": scene.checkin(feature, { baseline: absent }),
      "the content of an attachment": attachment,
      "a post that is answered": { ...post, root: absent, title: null, inReplyTo: absent },
    };
    for (const [name, artifact] of Object.entries(sealed)) {
      const refusal = new RegExp(`names ${absent}, which is neither`);
      await scene.attempt({ name, refusal, cards: [fileOf(artifact)] });
    }
    const target = "f".repeat(40);
    const orphan: Artifact = { ...attachment, source: sha3("content"), target };
    const refusal = new RegExp(`names ${target}`);
    const cards: Card[] = [fileOf(encodeUtf8("content")), fileOf(orphan)];
    const refused = hashOf(orphan);
    await scene.attempt({ name: "an attachment of nothing", refusal, cards, refused });
    // A cherry-pick tells where a change came from: often from a private branch.
    const cherrypicks = [{ hash: absent, backout: false, base: null }];
    await scene.honest(scene.checkin(feature, { cherrypicks }));
  });
});

Deno.test("what depends on something that was refused waits for it, in any order", async () => {
  await HostileScene.run(async (scene) => {
    const { feature, trunk, now: date } = scene;
    const refused = scene.checkin(trunk, { comment: long("refused"), date });
    const child = scene.checkin(hashOf(refused), {
      comment: long("child"),
      date: date + 1,
      tags: starting("mine", "trunk"),
    });
    const tagged = { ...scene.control(tag("+", "sym-v1", hashOf(child))), date } as Artifact;
    const delta: Card = {
      kind: "file",
      hash: hashOf(child),
      source: hashOf(refused),
      content: createDelta(formatArtifact(refused), formatArtifact(child)),
    };
    const cluster: Artifact = {
      kind: "cluster",
      members: [hashOf(refused), hashOf(child), feature].toSorted(),
    };
    const cards = [refused, child, tagged, cluster].map(fileOf);
    const refusal = /the push to the branch "trunk" is refused/;
    await scene.attempt({ name: "in order", refusal, cards });
    await scene.attempt({ name: "in the other order", refusal, cards: cards.toReversed() });
    await scene.attempt({ name: "a delta", refusal, cards: [delta, fileOf(refused)] });
    // Announced, it is asked for before anything that depends on it.
    const announced: Card = { kind: "igot", hash: hashOf(refused), isPrivate: false };
    for (const parts of [cards.slice(1), [delta]]) {
      const reply = await scene.send({ cards: [announced, ...parts] });
      assert.deepEqual(reply.errors, []);
      const [first] = reply.cards.flatMap((card) => card.kind === "gimme" ? [card.hash] : []);
      assert.equal(first, hashOf(refused));
    }
    const allowed = scene.checkin(feature, { comment: "allowed", date: date + 2 });
    const { errors } = await scene.send({ cards: [...cards, fileOf(allowed)] });
    assert.match(errors[0] ?? "", refusal);
    await assertNoRemains(scene.test);
    assert.equal((await comments(scene.test))[0], "allowed");
  });
});

Deno.test("two clones of one account push at once, and neither hears of the other's refusal", async () => {
  await HostileScene.run(async (scene) => {
    const { feature, trunk, now: date } = scene;
    const refused = fileOf(scene.checkin(trunk, { comment: long("refused"), date }));
    const mine = fileOf(scene.checkin(feature, { comment: "mine", date }));
    const others = fileOf(scene.checkin(feature, { comment: "others", date: date + 1 }));
    const announcing = (card: Card): Card[] =>
      card.kind === "file" ? [{ kind: "igot", hash: card.hash, isPrivate: false }] : [];
    const other = "b".repeat(40);
    // The first clone has more to send, so its refusal waits.
    const begun = await scene.send({ cards: [refused, ...announcing(mine)] });
    assert.deepEqual(begun.errors, []);
    const announced = await scene.send({ serverCode: other, cards: announcing(others) });
    assert.deepEqual(announced.errors, []);
    assert.deepEqual((await scene.send({ serverCode: other, cards: [others] })).errors, []);
    const { errors } = await scene.send({ cards: [...announcing(refused), mine] });
    assert.match(errors[0] ?? "", /the push to the branch "trunk" is refused/);
    assert.deepEqual((await comments(scene.test)).slice(0, 2), ["others", "mine"]);
    await assertNoRemains(scene.test);
  });
});

Deno.test("a refused unversioned file keeps back nothing else", async () => {
  await HostileScene.run(async (scene) => {
    const content = encodeUtf8("x");
    const card = (name: string, time: number): Card => ({
      kind: "uvfile",
      name,
      time,
      hash: sha3(content),
      size: 1,
      content,
    });
    const now = Math.floor(scene.now / 1000);
    const allowed = scene.checkin(scene.feature, { comment: "allowed", date: scene.now });
    const cards = [card("future.txt", now + 9999), card("now.txt", now), fileOf(allowed)];
    assert.match((await scene.send({ cards })).errors[0] ?? "", /has a date in the future/);
    assert.equal((await comments(scene.test))[0], "allowed");
    const list = await scene.test.client.fossil(["uv", "list", "-R", scene.test.file]);
    assert.match(list, /now\.txt/);
    assert.doesNotMatch(list, /future\.txt/);
  });
});
