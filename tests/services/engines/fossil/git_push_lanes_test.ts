/** Where a push of Git is unpacked and stored, so that others need not wait for it. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  GitCompanion,
  type GitPush,
  type PooledRepository,
  receivePush,
  Repository,
  type SentPack,
} from "../../../../services/engines/fossil/mod.ts";
import {
  type PoolOptions,
  repositoryProcesses,
} from "../../../../services/engines/fossil/front/mod.ts";
import { Reader } from "../../../../services/engines/fossil/read/mod.ts";
import {
  rawBlob,
  rawCommit,
  type RawObject,
  rawPack,
  rawTree,
} from "../../../support/raw_pushes.ts";
import { asked } from "../../../support/until.ts";
import { commit, DATE, withPool } from "./support/pools.ts";
import { assertRebuilds } from "./support/tables.ts";

const FILE = 0o100644;
const REF = "refs/heads/main";

/** A line of commits, each of which changes one file. */
function line(count: number): { readonly objects: readonly RawObject[]; readonly tip: string } {
  const objects: RawObject[] = [];
  let parents: string[] = [];
  for (let number = 0; number < count; number++) {
    const blob = rawBlob(`${number}\n`);
    const tree = rawTree([["a", FILE, blob]]);
    const commit = rawCommit(tree, { parents, message: `Commit ${number}\n` });
    objects.push(blob, tree, commit);
    parents = [commit.hex];
  }
  return { objects, tip: parents[0]! };
}

/** Rehearses a push in a copy. */
async function rehearse(repository: PooledRepository, push: GitPush) {
  const folder = await Deno.makeTempDir({ dir: dirname(repository.path) });
  return await repository.rehearsePush(join(folder, "copy"), push);
}

function ticket(repository: PooledRepository, title: string) {
  return repository.saveTicket({
    user: "alice",
    date: DATE + 1000,
    fields: [{ name: "title", value: title, append: false }],
  });
}

/** Writes a pack; returns what there is to unpack. */
async function packOf(
  { path }: PooledRepository,
  objects: readonly RawObject[],
  tip: string,
): Promise<SentPack> {
  const [source, target] = ["pack", "draft"].map((name) => join(dirname(path), name));
  await Deno.writeFile(source!, rawPack(objects));
  return { source: source!, start: 0, target: target!, tips: [tip], based: [] };
}

/** Unpacks objects; returns what to store, and whether that takes long. */
async function unpack(repository: PooledRepository, count: number) {
  const { objects, tip } = line(count);
  const { draft, isLong } = await repository.unpackPush(await packOf(repository, objects, tip));
  return { isLong, push: pushOf(draft, tip) };
}

function pushOf(draft: GitPush["draft"], tip: string): GitPush {
  return {
    draft,
    refs: [{ ref: REF, from: null, to: tip, mayRewind: false }],
    isAtomic: false,
    rules: {
      pusher: "eve",
      users: ["eve"],
      role: "write",
      latest: Infinity,
      branches: [],
      merges: [],
      workspaces: {},
      files: [],
      hasBounds: true,
      isFromGit: true,
      closedKinds: {},
    },
    address: null,
    mark: null,
    now: DATE,
  };
}

Deno.test("a short push is unpacked in memory, and stored from there", async () => {
  await withPool({ workers: 1 }, async (_, repository) => {
    const { objects, tip } = line(3);
    const pack = await packOf(repository, objects, tip);
    // A worker that is cold, on a busy machine, needs longer than a short push may take.
    const unpacked = await asked(
      () => repository.unpackShortPush(pack),
      (unpacked) => unpacked !== null,
    );
    assert.ok(unpacked?.draft instanceof Uint8Array);
    assert.equal(existsSync(pack.target), false);
    const { draft } = unpacked;
    assert.deepEqual(await repository.unpackPush(pack), { ...unpacked, draft: pack.target });
    const { refs } = await repository.receivePush(pushOf(draft, tip));
    assert.equal(refs[0]?.refusal, null);
    assert.equal((await repository.gitRefs())?.refs[0]?.object, tip);
    assert.equal((await repository.timeline({})).total, 4);
    assert.deepEqual((await repository.verify()).damages, []);
  });
});

Deno.test("a push that is long or wrong is left to a worker on the side", async () => {
  await withPool({ workers: 1 }, async (_, repository) => {
    const blob = rawBlob("x".repeat(300_000));
    const commit = rawCommit(rawTree([["a", FILE, blob]]), { message: "Long\n" });
    const tree = rawTree([["a", FILE, blob]]);
    const long = await packOf(repository, [blob, tree, commit], commit.hex);
    assert.equal(await repository.unpackShortPush(long), null);
    assert.equal((await repository.unpackPush(long)).draft, long.target);
    const wrong = await packOf(repository, [tree, commit], commit.hex);
    assert.equal(await repository.unpackShortPush(wrong), null);
    await assert.rejects(repository.unpackPush(wrong), /is missing/);
  });
});

async function requireNobodyWaits(options: PoolOptions | ((folder: string) => PoolOptions)) {
  await withPool(options, async (_, repository) => {
    const short = await unpack(repository, 3);
    assert.equal(short.isLong, false);
    const { isLong, push } = await unpack(repository, 200);
    assert.equal(isLong, true);
    const ended: string[] = [];
    const storing = rehearse(repository, push).then((rehearsed) => {
      ended.push("push");
      return rehearsed;
    });
    const { uuid } = await ticket(repository, "meanwhile");
    ended.push("ticket");
    assert.equal((await repository.timeline({})).total, 1);
    const rehearsed = await storing;
    assert.deepEqual(ended, ["ticket", "push"]);
    assert.equal(rehearsed.report.refs[0]?.refusal, null);
    // Nothing of it is here yet.
    assert.equal((await repository.timeline({})).total, 1);
    const after = (await repository.received({ after: null, limit: 0 })).place;
    assert.equal(await repository.storeRehearsed({ ...rehearsed, mark: "a push" }), true);
    // The repository's own worker sees what another one has stored, and writes on.
    assert.equal((await repository.gitRefs())?.refs[0]?.object, push.refs[0]?.to);
    assert.equal((await repository.timeline({})).total, 201);
    const { artifacts } = await repository.received({ after });
    assert.equal(artifacts.at(-1)?.mark, "a push");
    // After the end of a worker it is made once more.
    assert.equal(await repository.storeRehearsed({ ...rehearsed, mark: "a push" }), true);
    assert.equal((await repository.timeline({})).total, 201);
    await ticket(repository, "afterwards");
    assert.equal((await repository.ticket(uuid)).title, "meanwhile");
    assert.deepEqual((await repository.verify()).damages, []);
    await repository.close();
    assertRebuilds(repository.path);
  });
}

Deno.test("a push that takes long to store keeps nobody waiting, and loses nothing", async () => {
  await requireNobodyWaits({ workers: 1 });
});

Deno.test("nor does one that processes store", async () => {
  await requireNobodyWaits(repositoryProcesses);
});

Deno.test("a long push is made again if check-ins, tags or settings came meanwhile", async () => {
  await withPool({ workers: 1 }, async (_, repository) => {
    const { push } = await unpack(repository, 100);
    const outdated = await rehearse(repository, push);
    await commit(repository, "b", new TextEncoder().encode("b\n"));
    const size = async () => (await repository.received({ after: null, limit: 0 })).bytes;
    const before = await size();
    assert.equal(await repository.storeRehearsed({ ...outdated, mark: null }), false);
    assert.equal(await size(), before);
    const again = await rehearse(repository, push);
    assert.equal(await repository.storeRehearsed({ ...again, mark: null }), true);
    // What was stored once stands in its own way.
    assert.equal(await repository.storeRehearsed({ ...again, mark: null }), false);
    await repository.close();
    assertRebuilds(repository.path);
  });
});

Deno.test("a long push brings along what the objects of Git do not have yet", async () => {
  await withPool({ workers: 1 }, async (_, repository) => {
    await commit(repository, "b", new TextEncoder().encode("b\n"));
    const { push } = await unpack(repository, 100);
    const checkin = (await repository.resolveCheckin("trunk")).uuid;
    await repository.tagCheckin({ user: "alice", date: DATE + 90_000_000, name: "v1", checkin });
    const rehearsed = await rehearse(repository, push);
    assert.equal(await repository.storeRehearsed({ ...rehearsed, mark: null }), true);
    const refs = (await repository.gitRefs())?.refs.map(({ ref }) => ref);
    assert.deepEqual(refs, [REF, "refs/heads/trunk", "refs/tags/v1"]);
  });
});

Deno.test("a push that is interrupted anywhere leaves nothing, and can be made again", async () => {
  await withPool({ workers: 1 }, async (_, repository) => {
    const { push } = await unpack(repository, 40);
    await repository.close();
    using opened = Repository.open(repository.path);
    const reader = new Reader(opened, { check: () => {} });
    const folder = dirname(repository.path);
    using companion = GitCompanion.open(join(folder, "one.objects"), reader);
    const state = () => {
      const rows = "SELECT (SELECT count(*) FROM blob), (SELECT count(*) FROM event)";
      return JSON.stringify([opened.db.rows(rows), companion.advertisement()]);
    };
    companion.update();
    const before = state();
    for (const place of [0, 1, 7, 39]) {
      let checks = 0;
      const check = () => {
        if (checks++ === place) throw new Error("killed");
      };
      assert.throws(() => receivePush(companion, push, check), /killed/);
      assert.equal(state(), before, `after ${place} commits`);
    }
    const { refs } = receivePush(companion, push, () => {});
    assert.equal(refs[0]?.refusal, null);
    assert.equal(companion.advertisement().refs[0]?.object, push.refs[0]?.to);
    assert.deepEqual(opened.verify(), []);
  });
});
