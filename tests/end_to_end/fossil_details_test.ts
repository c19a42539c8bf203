/** What `muster fossil` says and does about names, lists and files that people get wrong. */
import assert from "node:assert/strict";
import { Repository, writeTicketChange } from "../../services/engines/fossil/mod.ts";
import { judged } from "../services/engines/fossil/support/judges.ts";
import { Workbench } from "../support/workbench.ts";

/** A repository whose trunk has two check-ins and whose branch "side" has one. */
async function prepared(program?: string): Promise<Workbench> {
  const bench = new Workbench(program);
  await bench.muster("init");
  await bench.commitFile("a", "1\n", "first");
  await bench.commitFile("a", "2\n", "second");
  return bench;
}

Deno.test("a missing branch, file or stream is an error", async () => {
  using bench = await prepared();
  const table: [message: RegExp, command: string, ...args: string[]][] = [
    [/^There is no branch "nosuch"$/m, "timeline", "--branch", "nosuch"],
    [/^There is no file "nosuch"$/m, "timeline", "--path", "nosuch"],
    [/"nosuch"/, "diff", "nosuch"],
    [/"nosuch"/, "diff", "--from", "nosuch"],
  ];
  for (const [message, command, ...args] of table) {
    const { code, stdout, stderr } = await bench.try(command, args);
    assert.equal(code, 1, `${command} ${args.join(" ")}`);
    assert.match(stderr, message);
    assert.equal(stdout, "");
  }
  assert.equal(await bench.muster("diff", ["--from", "trunk", "--to", "trunk", "a"]), "");
  assert.match(await bench.muster("timeline", ["--branch", "trunk", "--user", "nobody"]), /^$/);
  Deno.removeSync(bench.repository);
  for (const stream of ["", "feature done\ndone\n"]) {
    const { code, stderr } = await bench.try("import", [], stream);
    assert.equal(code, 1);
    assert.equal(stderr, "The stream is empty: it holds no commit\n");
    assert.throws(() => Deno.statSync(bench.repository), Deno.errors.NotFound);
  }
});

Deno.test("an archive replaces its output file whole, or leaves it unchanged", async () => {
  using bench = await prepared();
  const target = bench.write("all.zip", "an older file");
  const { code } = await bench.try("archive", ["--checkin", "nosuch", "-o", target]);
  assert.equal(code, 1);
  assert.equal(Deno.readTextFileSync(target), "an older file");
  await bench.muster("archive", ["-o", target]);
  assert.equal(Deno.readTextFileSync(target).slice(0, 2), "PK");
  await bench.muster("archive", ["-o", "/dev/null"]);
  assert.equal(Deno.statSync("/dev/null").isFile, false);
  assert.deepEqual([...Deno.readDirSync(bench.folder)].map(({ name }) => name).sort(), [
    "all.zip",
    "one.fossil",
    "tree",
  ]);
});

Deno.test("-n 0 lists everything", async () => {
  using bench = await prepared();
  writeTickets(bench.repository, 30);
  assert.equal((await bench.json("ticket")).tickets.length, 25);
  assert.match(await bench.muster("ticket"), /^25 of 30; -n 0 shows all$/m);
  assert.equal((await bench.json("ticket", "-n", "0")).tickets.length, 30);
  assert.equal((await bench.json("ticket", "-n", "0", "--offset", "4")).tickets.length, 26);
  const { events } = await bench.json("timeline", "--kind", "ticket", "-n", "0");
  assert.equal(events.length, 30);
  assert.equal((await bench.json("timeline", "-n", "0")).checkins.length, 3);
  assert.equal((await bench.json("timeline", "-n", "1")).checkins.length, 1);
  assert.equal((await bench.json("history", "a", "-n", "0")).checkins.length, 2);
  assert.equal((await bench.json("search", "ticket", "-n", "0")).matches.length, 30);
});

judged(
  "wiki pages of branches and check-ins are listed on request",
  async (program) => {
    using bench = await prepared(program);
    const tip = (await bench.json("info", "--checkin", "tip")).uuid;
    for (const name of ["Home", "branch/trunk", `checkin/${tip}`, "branches", "Gone"]) {
      await bench.muster("wiki", [name, "--write"], "text");
    }
    await bench.muster("wiki", ["Gone", "--delete"]);
    const at = ["-R", bench.repository];
    for (const options of [[], ["-a"], ["--all"], ["-a", "--all"]]) {
      const listed = (await bench.json("wiki", ...options)).map(({ name }: { name: string }) =>
        name
      );
      const expected = bench.fossil(["wiki", "list", ...options, ...at]).trim().split("\n");
      assert.deepEqual(listed.sort(), expected.sort(), options.join(" "));
    }
  },
);

Deno.test("current, prev and next are relative to the tip of trunk", async () => {
  using bench = await prepared();
  const [tip, first] = (await bench.json("timeline")).checkins;
  const named = async (name: string) => (await bench.json("info", "--checkin", name)).uuid;
  assert.equal(await named("current"), tip.uuid);
  assert.equal(await named("prev"), first.uuid);
  assert.equal(await named("previous"), first.uuid);
  assert.equal((await bench.try("info", ["--checkin", "next"])).code, 1);
  const side = await bench.commit("on a side", "--branch", "side", "--allow-empty");
  assert.equal(await named("next"), side);
  bench.fossil(["tag", "add", "next", first.uuid, "-R", bench.repository]);
  assert.equal(await named("next"), first.uuid, "A tag of that name counts");
});

function writeTickets(path: string, count: number): void {
  using repository = Repository.open(path, { writeAheadLog: false });
  for (let number = 0; number < count; number++) {
    const fields = [{ name: "title", value: `ticket ${number}`, append: false }];
    writeTicketChange(repository, { user: "alice", date: Date.now() + number, fields });
  }
}
