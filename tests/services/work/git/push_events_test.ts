/** What a push tells others: it is one event, however much it brings. */
import assert from "node:assert/strict";
import { commit, gitTest } from "../../../support/git_pushes.ts";
import type { GitTest } from "../../../support/git_door.ts";
import {
  pushRaw,
  rawBlob,
  rawCommit,
  type RawObject,
  rawPack,
  rawTree,
} from "../../../support/raw_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";
import type { EventTypes } from "../../../../services/engines/events/mod.ts";
import { lineOf, projectEventOf } from "../../../../services/oversight/notifications/mod.ts";

const FILE = 0o100644;

/** The events that come while something is done. */
async function eventsDuring({ api, project }: GitTest, work: () => Promise<unknown>) {
  const { eventLog } = api.services;
  const after = eventLog.newest;
  await work();
  const { events } = await eventLog.read({ after, project: project.id, limit: 1000 });
  return events;
}

type Pushed = NonNullable<EventTypes["project.checkin"]["push"]>;

gitTest("a push of several branches and tags is one event", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "a.txt": "1\n" }, "One");
  await commit(clone, { "a.txt": "2\n" }, "Two\n\nWith a body");
  await clone.git("checkout", "--quiet", "-b", "side", "HEAD~1");
  await commit(clone, { "side.txt": "1\n" }, "Aside");
  await clone.git("tag", "-a", "v1", "-m", "Version 1");
  const events = await eventsDuring(
    test,
    () => clone.git("push", "--quiet", "origin", "trunk", "side", "v1"),
  );
  assert.deepEqual(events.map(({ type, actor }) => [type, actor]), [
    ["project.checkin", "agent:caller"],
  ]);
  const [{ data }] = events as [typeof events[0]];
  const push = data["push"] as Pushed;
  assert.equal(data["branch"], "trunk");
  assert.equal(data["comment"], "Two\n\nWith a body");
  assert.equal(push.checkins, 3);
  assert.deepEqual(push.commits.map(({ comment }) => comment).sort(), ["Aside", "One", "Two"]);
  assert.deepEqual([...push.branches].sort(), ["side", "trunk"]);
  assert.deepEqual(push.refs.map(({ ref }) => ref).sort(), ["refs/heads/side", "refs/heads/trunk"]);
  const { checkin } = push.refs.find(({ ref }) => ref === "refs/heads/trunk")!;
  assert.equal(checkin, data["uuid"]);
  assert.equal(push.tags.filter(({ name }) => name === "sym-v1").length, 1);
  assert.match(
    lineOf(projectEventOf(events[0]!)!)?.text ?? "",
    /^caller pushed 3 check-ins, also to side; the last is [0-9a-f]{10} to trunk: Two With a body$/,
  );
});

gitTest("a push that brings no commit is one event, and names what it moves", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const events = await eventsDuring(test, async () => {
    await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/one", "HEAD:refs/heads/two");
    await clone.git("push", "--quiet", "origin", ":one", ":two");
  });
  assert.deepEqual(events.map(({ type }) => type), ["project.tag", "project.tag"]);
  const [moved = [], gone = []] = events.map(({ data }) => (data["push"] as Pushed).refs);
  assert.deepEqual(moved.map(({ ref }) => ref), ["refs/heads/one", "refs/heads/two"]);
  assert.ok(moved.every(({ checkin }) => checkin !== null));
  assert.deepEqual(gone.map(({ checkin }) => checkin), [null, null]);
});

gitTest("the event of a long push names at most 100 commits", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const base = (await clone.git("rev-parse", "HEAD")).trim();
  const objects: RawObject[] = [];
  let tip = base;
  for (let number = 0; number < 130; number++) {
    const blob = rawBlob(`${number}\n`);
    const tree = rawTree([["a.txt", FILE, blob]]);
    const one = rawCommit(tree, {
      parents: [tip],
      message: `${"Long ".repeat(100)}\n\n${number}\n`,
    });
    objects.push(blob, tree, one);
    tip = one.hex;
  }
  const events = await eventsDuring(test, async () => {
    const said = await pushRaw(test, [["refs/heads/trunk", tip, base]], rawPack(objects));
    assert.match(said, /ok refs\/heads\/trunk/);
  });
  assert.equal(events.length, 1);
  const push = events[0]!.data["push"] as Pushed;
  assert.equal(push.checkins, 130);
  assert.equal(push.commits.length, 100);
  assert.equal(push.commits.at(-1)?.uuid, events[0]!.data["uuid"]);
  assert.ok(push.commits.every(({ comment }) => comment.length <= 200));
});
