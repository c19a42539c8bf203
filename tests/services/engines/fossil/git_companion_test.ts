/** The Git objects beside a repository: what is kept must be what would be made anew. */
import assert from "node:assert/strict";
import {
  amendCheckin,
  Reader,
  writeBranch,
  writeTags,
} from "../../../../services/engines/fossil/mod.ts";
import { companionPath, GitCompanion } from "../../../../services/engines/fossil/git/door/mod.ts";
import { Fixture, put } from "./support/fixture.ts";
import { Random } from "./support/random.ts";

/** A repository with a companion that follows it. */
class Followed implements Disposable {
  readonly fixture = new Fixture();
  readonly #reader = new Reader(this.fixture.repository);
  readonly #companion = GitCompanion.open(companionPath(this.fixture.path), this.#reader);

  /** The references, after an update of what was there before. */
  refs() {
    this.#companion.update();
    return this.#companion.advertisement();
  }

  /** The references of a companion that is made anew. */
  freshRefs() {
    const path = this.fixture.scratch.path("fresh.objects");
    const fresh = GitCompanion.open(path, new Reader(this.fixture.repository));
    try {
      fresh.update();
      return fresh.advertisement();
    } finally {
      fresh.discard();
    }
  }

  /** The commit that a reference names. */
  target(name: string): string | undefined {
    return this.refs().refs.find(({ ref }) => ref === name)?.object;
  }

  [Symbol.dispose](): void {
    this.#companion.close();
    this.fixture[Symbol.dispose]();
  }
}

Deno.test("references that follow each check-in are those that are computed anew", () => {
  for (let seed = 1; seed <= 5; seed++) {
    using followed = new Followed();
    const { fixture } = followed;
    const random = new Random(seed);
    const checkins = [fixture.commit([put("a", "0")])];
    const names = ["trunk"];
    for (let step = 1; step <= 30; step++) {
      const kind = random.below(12);
      const parent = kind < 8 ? fixture.tip(names[random.below(names.length)]) : checkins[
        random.below(checkins.length)
      ]!;
      if (kind < 10) {
        checkins.push(fixture.commit([put("a", `${step}`)], { parent, allowFork: true }));
      } else if (kind === 10) {
        const name = `branch-${step}`;
        checkins.push(writeBranch(fixture.repository, { ...fixture.author(), name, from: parent }));
        names.push(name);
      } else {
        const [name, sign] = random.below(2) === 0
          ? [`sym-tag-${step}`, "+"] as const
          : ["closed", "+"] as const;
        const changes = [{ name, sign, target: parent }];
        writeTags(fixture.repository, { ...fixture.author(), changes });
      }
      if (random.below(3) > 0) {
        assert.deepEqual(followed.refs(), followed.freshRefs(), `seed ${seed}, step ${step}`);
      }
    }
  }
});

Deno.test("an amendment of a branch's tip does not change its commit", () => {
  using followed = new Followed();
  const { fixture } = followed;
  const checkin = fixture.commit([put("a", "1")]);
  const before = followed.target("refs/heads/trunk");
  amendCheckin(fixture.repository, { ...fixture.author(), checkin, comment: "Another text" });
  assert.equal(followed.target("refs/heads/trunk"), before);
  assert.deepEqual(followed.refs(), followed.freshRefs());
});

Deno.test("commits with shunned content are served no more, before a rebuild and after", () => {
  using followed = new Followed();
  const { fixture } = followed;
  fixture.commit([put("a", "1")]);
  const before = followed.target("refs/heads/trunk");
  const checkin = fixture.commit([put("secret", "a password")]);
  const leaked = followed.target("refs/heads/trunk");
  assert.notEqual(leaked, before);
  const secret = fixture.repository.db.value<string>(
    "SELECT uuid FROM blob JOIN mlink ON fid=blob.rid JOIN filename USING(fnid) WHERE name='secret'",
  )!;
  fixture.repository.shun(secret);
  assert.equal(followed.target("refs/heads/trunk"), undefined);
  fixture.repository.rebuild();
  assert.equal(followed.target("refs/heads/trunk"), undefined);
  fixture.repository.shun(checkin);
  fixture.repository.rebuild();
  assert.equal(followed.target("refs/heads/trunk"), before);
});
