import assert from "node:assert/strict";
import {
  listBranches,
  listDivergedBranches,
  listTickets,
  readComparison,
  readContributions,
  Reader,
  readOpenWork,
  readTimeline,
  Repository,
  resolveCheckin,
} from "../../../../services/engines/fossil/mod.ts";
import { Scratch } from "./support/fossil.ts";
import { judged } from "./support/judges.ts";
import { History } from "./support/history.ts";

Deno.test("branches are ahead of and behind the main branch by the check-ins of one alone", () => {
  for (const seed of [3, 4]) {
    using scratch = new Scratch();
    const path = scratch.path("random.fossil");
    using repository = Repository.create(path, { admin: "alice", date: History.start });
    new History(repository, seed).run(150);
    const reader = new Reader(repository);
    const { checkins } = readTimeline(reader, { limit: 1000 });
    const parents = new Map(checkins.map((checkin) => [checkin.uuid, checkin.parents]));
    const ancestors = (tip: string) => {
      const found = new Set<string>();
      for (const stack = [tip]; stack.length > 0;) {
        const uuid = stack.pop() ?? "";
        if (!found.has(uuid)) stack.push(...parents.get(uuid) ?? []);
        found.add(uuid);
      }
      return found;
    };
    const branches = listBranches(reader);
    const main = branches.find(({ name }) => name === "trunk")?.last_uuid ?? "";
    const ofMain = ancestors(main);
    const expected = branches.map((branch) => {
      const own = ancestors(branch.last_uuid);
      const common = [...own].filter((uuid) => ofMain.has(uuid)).length;
      const ahead = own.size - common;
      return { ...branch, ahead, behind: ofMain.size - common, is_merged: ahead === 0 };
    });
    const diverged = listDivergedBranches(reader).map(({ is_named: _, ...branch }) => branch);
    assert.deepEqual(diverged, expected);
    const unmerged = expected.filter(({ ahead, status }) => ahead > 0 && status === "open");
    assert.ok(unmerged.length > 0);
    assert.deepEqual(readOpenWork(reader), {
      open_tickets: listTickets(reader, { state: "open" }).total,
      unmerged_branches: unmerged.length,
    });
    for (const { name, last_uuid, ahead, behind } of expected) {
      const compared = readComparison(reader, { from: main, to: last_uuid, limit: 1000 });
      assert.deepEqual([compared.ahead, compared.behind], [ahead, behind], name);
      assert.deepEqual(
        compared.checkins.map(({ uuid }) => uuid).sort(),
        [...ancestors(last_uuid)].filter((uuid) => !ofMain.has(uuid)).sort(),
      );
    }
    assert.ok(expected.some(({ ahead, behind }) => ahead > 0 && behind > 0));
  }
});

judged(
  "a name stands for what fossil takes it for, however many open leaves have it",
  (program) => {
    using scratch = new Scratch(program);
    const path = scratch.path("leaves.fossil");
    const fossil = (...args: string[]) => scratch.fossil(args, scratch.folder);
    fossil("init", "--date-override", "2024-01-01 00:00:00", path);
    fossil("open", "-f", path);
    const commit = (comment: string, day: number, ...args: string[]) => {
      scratch.write("a.txt", comment.padEnd(100 + day));
      fossil("addremove");
      const date = `2024-01-${String(day).padStart(2, "0")} 00:00:00`;
      const override = ["--date-override", date, "--allow-older", "--allow-fork", "--no-warnings"];
      fossil("commit", ...override, "-m", comment, ...args);
      return /[0-9a-f]{40,}/.exec(fossil("whatis", "current"))?.[0] ?? assert.fail();
    };
    const assertSame = (...names: string[]) => {
      using repository = Repository.open(path);
      const reader = new Reader(repository);
      for (const name of names) {
        const judged = /artifact: +([0-9a-f]+)/.exec(fossil("whatis", name))?.[1];
        assert.equal(resolveCheckin(reader, name).uuid, judged, name);
      }
    };
    const base = commit("base", 2);
    commit("left", 3);
    // The newest check-in is no leaf.
    commit("left, by a clock that runs ahead", 9);
    commit("left again", 4);
    fossil("update", base);
    const right = commit("right", 6);
    assertSame("trunk", "tag:trunk", "tip");
    fossil("tag", "add", "--raw", "closed", right);
    assertSame("trunk", "tip");
    fossil("update", base);
    const other = commit("another branch", 12, "--branch", "other");
    assertSame("trunk", "other", "tip");
    // As in express.fossil, where all check-ins of another branch have the name of trunk too.
    fossil("tag", "add", "--raw", "--propagate", "sym-trunk", other);
    assertSame("trunk", "other", "tip");
    using repository = Repository.open(path);
    const branches = listDivergedBranches(new Reader(repository));
    const named = branches.map(({ name, is_named: isNamed }) => `${name} ${isNamed}`);
    assert.deepEqual(named, ["other true", "trunk false"]);
  },
);

Deno.test("contributions count each check-in but the first, empty one, by user and by month", () => {
  using scratch = new Scratch();
  const path = scratch.path("random.fossil");
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  new History(repository, 5).run(100);
  const reader = new Reader(repository);
  const all = readTimeline(reader, { limit: 1000 }).checkins;
  const checkins = all.filter(({ parents }) => parents.length > 0);
  const total = all.length - 1;
  const { contributors, months } = readContributions(reader);
  const sum = (list: readonly { checkin_count: number }[]) =>
    list.reduce((count, { checkin_count }) => count + checkin_count, 0);
  assert.deepEqual([sum(contributors), sum(months)], [total, total]);
  const counts = contributors.map(({ checkin_count }) => checkin_count);
  assert.deepEqual(counts, counts.toSorted((one, other) => other - one));
  for (const { user, checkin_count, first_checkin, last_checkin } of contributors) {
    const times = checkins.filter((checkin) => checkin.user === user)
      .map(({ timestamp }) => timestamp).sort();
    assert.deepEqual([first_checkin, last_checkin, checkin_count], [
      times[0],
      times.at(-1),
      times.length,
    ]);
  }
  const names = months.map(({ month }) => month);
  assert.deepEqual(names, [...new Set(checkins.map((it) => it.timestamp.slice(0, 7)))].sort());
});
