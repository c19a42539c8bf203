/** Reading and rebuilding a real repository, judged by the program over its whole history. */
import assert from "node:assert/strict";
import {
  FossilError,
  listTags,
  readBlame,
  readDiff,
  Reader,
  readFile,
  readHistory,
  readTimeline,
  readTree,
  Repository,
  resolveArtifact,
} from "../../services/engines/fossil/mod.ts";
import { peer } from "../support/peers.ts";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { judged } from "../services/engines/fossil/support/judges.ts";
import { assertRebuilds } from "../services/engines/fossil/support/tables.ts";
import { patched } from "../services/engines/fossil/support/patch.ts";

/** Kept beside this repository; not every machine has it. */
const EXPRESS = new URL("../../../shared/data/express.fossil", import.meta.url);

/** A copy of the repository, a reader of it, and a checkout for commands that need one. */
class Express implements Disposable {
  readonly scratch: Scratch;
  readonly repository: Repository;
  readonly reader: Reader;

  constructor(program: string) {
    this.scratch = new Scratch(program);
    const path = this.scratch.path("express.fossil");
    Deno.copyFileSync(EXPRESS, path);
    Deno.mkdirSync(this.scratch.path("checkout"));
    this.fossil("open", path);
    this.repository = Repository.open(path);
    this.reader = new Reader(this.repository);
  }

  fossil(...args: string[]): string {
    return this.scratch.fossil(args, this.scratch.path("checkout"));
  }

  lines(...args: string[]): string[] {
    return this.fossil(...args).split("\n").slice(0, -1);
  }

  /** Check-ins spread over the whole history, newest first. */
  samples(count: number): string[] {
    const { checkins } = readTimeline(this.reader, { limit: 10_000 });
    const step = Math.floor(checkins.length / count);
    return checkins.filter((_, i) => i % step === 0).map(({ uuid }) => uuid);
  }

  [Symbol.dispose](): void {
    this.repository.close();
    this.scratch[Symbol.dispose]();
  }
}

function isMissing(url: URL): boolean {
  try {
    return !Deno.statSync(url).isFile;
  } catch {
    return true;
  }
}

function express(name: string, fn: (express: Express) => void): void {
  judged(`express.fossil: ${name}`, (program) => {
    using fixture = new Express(program);
    fn(fixture);
  }, isMissing(EXPRESS));
}

/** A timestamp as the program prints it. */
function seconds(timestamp: string): string {
  return timestamp.slice(0, 19).replace("T", " ");
}

express("the whole timeline is that of fossil", (express) => {
  const { reader } = express;
  const lines = express.lines("timeline", "-n", "0", "-t", "ci", "-F", "%H|%d|%a|%b|%t|%p");
  const theirs = lines.slice(0, -1).map((line) => {
    const [uuid, date, user, branch, tags, phase] = line.split("|");
    const names = tags!.split(", ").filter((tag) => tag !== branch && tag !== "trunk").sort();
    const isMerge = phase!.includes("*MERGE*");
    return [uuid, date, user, branch || "trunk", names.join(), isMerge].join("|");
  });
  const { checkins, total } = readTimeline(reader, { limit: 10_000 });
  const ours = checkins.map((checkin) => {
    const { uuid, timestamp, user, branch, tags, is_merge } = checkin;
    const names = tags.filter((tag) => tag !== "trunk").join();
    return [uuid, seconds(timestamp), user, branch, names, is_merge].join("|");
  });
  assert.equal(total, theirs.length);
  assert.deepEqual(ours, theirs);
  const names = express.lines("tag", "list").filter((tag) => !["trunk", "master"].includes(tag));
  assert.deepEqual(listTags(reader).map(({ name }) => name).sort(), names.sort());
  const page = (options: Parameters<typeof readTimeline>[1]) => readTimeline(reader, options);
  const [offset, limit] = [1234, 7];
  assert.deepEqual(page({ offset, limit }).checkins, checkins.slice(offset, offset + limit));
  const onMaster = checkins.filter(({ branch }) => branch === "master");
  assert.deepEqual(page({ branch: "master", limit: 1000 }), {
    checkins: onMaster,
    total: onMaster.length,
  });
  const [newest, oldest] = [checkins[3000]!, checkins[3010]!];
  const between = page({ before: newest.uuid, after: oldest.timestamp });
  assert.deepEqual(between.checkins, checkins.slice(3001, 3010));
  for (const path of ["lib/response.js", "lib"]) {
    const theirs = express.lines("timeline", "-n", "0", "-p", path, "-F", "%H").slice(0, -1);
    assert.deepEqual(page({ path, limit: 10_000 }).checkins.map(({ uuid }) => uuid), theirs);
  }
});

express("trees and files are those of fossil", (express) => {
  let [files, otherDates] = [0, 0];
  for (const checkin of express.samples(12)) {
    const theirs = express.lines("ls", "-v", "-r", checkin).map((line) => {
      const [, date, size, name] = /^(\S+ \S+) +(\d+) {2}(.*)$/.exec(line) ?? [];
      return { name, size: Number(size), date };
    }).sort((left, right) => left.name! < right.name! ? -1 : 1);
    const tree = readTree(express.reader, { checkin, recursive: true });
    const ours = tree.entries.map(({ name, size }) => ({ name, size }));
    assert.deepEqual(ours, theirs.map(({ name, size }) => ({ name, size })));
    for (const [i, { last_checkin }] of tree.entries.entries()) {
      files++;
      if (seconds(last_checkin?.timestamp ?? "") !== theirs[i]!.date) otherDates++;
    }
    const path = tree.entries[Math.floor(tree.entries.length / 2)]!.name;
    const file = readFile(express.reader, { checkin, path });
    const text = new TextDecoder().decode(file.content);
    assert.equal(text, express.fossil("cat", "-r", checkin, path));
  }
  // The program names the first check-in that had the content, we the one that brought it back.
  assert.ok(otherDates < files * 0.1, `${otherDates} of ${files} dates differ`);
});

express("names stand for what they stand for in fossil", (express) => {
  const names = `tip trunk master 2015-01-01 date:2015-01-01 4.x root:master start:master
    merge-in:master tag:4.17.1 4.17.1 master:2014-05-05 master:2026-05-05 20150101 201501010000
    abcd 1234 ab deadbeef root:v5.2.1 2015-13-45 utc:2015-01-01 12345678 [ee41eeab69] TIP
    v5.2.1:2026-01-01 EE41EE -1 ffff 00000 2015-01-01T12:00:00 root: : tag: trunk: rid:1 rid:77 rid:
    rid:99999999 rid:x rid:-1`.split(/\s+/);
  for (const name of names) {
    const { stdout } = express.scratch.run(["whatis", name], express.scratch.path("checkout"));
    const hash = /^artifact: +([0-9a-f]+)$/m.exec(stdout)?.[1];
    const theirs = hash ?? (stdout.includes("ambiguous") ? "ambiguous" : "missing");
    assert.equal(resolved(express.reader, name), theirs, name);
  }
});

function resolved(reader: Reader, name: string): string {
  try {
    return resolveArtifact(reader, name).uuid;
  } catch (error) {
    assert.ok(error instanceof FossilError);
    return error.code;
  }
}

express("histories are those of fossil, and blame mostly so", (express) => {
  const { reader } = express;
  const { entries } = readTree(reader, { recursive: true, withoutLastCheckin: true });
  for (const { name: path } of entries.filter((_, i) => i % 8 === 0)) {
    const theirs = express.lines("finfo", "-b", "-W", "0", path)
      .map((line) => line.split(" ").slice(0, 2).join(" "));
    const { checkins } = readHistory(reader, { path, everywhere: true, limit: 1000 });
    const ours = checkins.filter(({ file_uuid }) => file_uuid !== null)
      .map(({ uuid, timestamp }) => `${uuid.slice(0, 10)} ${timestamp.slice(0, 10)}`);
    assert.deepEqual(ours, theirs, path);
  }
  for (const path of ["History.md", "lib/response.js"]) {
    const theirs = express.lines("annotate", "-n", "none", path);
    const { lines } = readBlame(reader, { path });
    assert.equal(lines.length, theirs.length);
    const same = lines.filter(({ uuid }, i) => uuid.startsWith(theirs[i]!.slice(0, 10))).length;
    const rate = same / lines.length;
    assert.ok(rate > 0.7, `${(rate * 100).toFixed(1)} % of the lines of ${path} agree`);
  }
});

express("diffs lead from one check-in to the other", (express) => {
  const { reader } = express;
  const samples = express.samples(6);
  for (const [i, to] of samples.slice(0, -1).entries()) {
    const from = samples[i + 1]!;
    const { files } = readDiff(reader, { from, to });
    const theirs = express.lines("diff", "--brief", "--from", from, "--to", to)
      .map((line) => /^\w+ +(.*)$/.exec(line)?.[1]);
    assert.deepEqual(files.map(({ name }) => name).sort(), theirs.sort());
    for (const file of files.filter(({ is_binary }) => !is_binary)) {
      const text = (checkin: string, path: string, hash: string | null) =>
        hash === null ? "" : new TextDecoder().decode(readFile(reader, { checkin, path }).content);
      const before = text(from, file.prev_name ?? file.name, file.prev_uuid);
      assert.equal(patched(before, file.diff), text(to, file.name, file.uuid), file.name);
    }
  }
});

Deno.test({
  name: "a rebuild of express.fossil equals the one of fossil",
  ignore: peer("fossil").ignore || isMissing(EXPRESS),
  fn: () => {
    using scratch = new Scratch();
    const path = scratch.path("express.fossil");
    Deno.copyFileSync(EXPRESS, path);
    assertRebuilds(path);
    using original = Repository.open(path, { readOnly: true });
    assert.deepEqual(original.verify(), []);
  },
});
