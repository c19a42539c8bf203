import { join } from "node:path";
import { encodeUtf8, type FileChange } from "../../services/engines/fossil/mod.ts";
import type { Figure } from "../scenario.ts";
import { AIM, fossilScenario, PROGRAM_RUNS } from "./scenario.ts";
import { commitOne, compared, timeCalls, type Workbench } from "./workbench.ts";

const COMMITS = 20;
/** Files of the larger tree. */
const MANY_FILES = 10_000;

export const COMMITS_OF_ONE = fossilScenario(
  "fossil-commits",
  "commits of one changed file, each of them on the disk when it is answered",
  async (source, bench) => {
    const small = await bench.copy(source, "small.fossil");
    const large = await makeLarge(bench);
    return [
      ...await compareCommits(bench, small, "as it is"),
      ...await compareCommits(bench, large, `of ${MANY_FILES} files`),
    ];
  },
);

/** Makes a repository with a large tree; returns its path. */
async function makeLarge(bench: Workbench): Promise<string> {
  const path = bench.path("large.fossil");
  const repository = await bench.pool.create(path, { admin: "bench", date: Date.now() });
  const { uuid: parent } = await repository.resolveCheckin("trunk");
  const changes = Array.from({ length: MANY_FILES }, (_, index): FileChange => ({
    kind: "write",
    path: `folder ${index % 100}/file ${index}`,
    content: encodeUtf8(`This is file ${index}.\n`.repeat(20)),
  }));
  const comment = "many files";
  await repository.commit({ user: "bench", date: Date.now(), parent, comment, changes });
  await repository.close();
  return path;
}

async function compareCommits(bench: Workbench, path: string, tree: string): Promise<Figure[]> {
  const copy = await bench.copy(path, `${tree} by fossil`);
  const repository = await bench.pool.open(path);
  const { entries } = await repository.tree({ recursive: true, withoutLastCheckin: true });
  const file = entries[Math.floor(entries.length / 2)]?.name ?? "";
  let { uuid: parent } = await repository.resolveCheckin("trunk");
  const { first, median } = await timeCalls(COMMITS, async (round) => {
    parent = await commitOne(repository, parent, file, `muster's round ${round}\n`);
  });
  const checkout = await bench.checkout(copy, `checkout ${tree}`);
  const fossil = await bench.program.time(
    PROGRAM_RUNS,
    ["commit", "-m", "one file", "--no-warnings", "--no-prompt"],
    checkout,
    (round) => Deno.writeTextFileSync(join(checkout, file), "round ".repeat(round + 1)),
  );
  return [
    ...compared(`commit, tree ${tree}`, median, fossil, AIM.commit),
    { name: `commit, tree ${tree}: just opened`, value: first, unit: "ms" },
  ];
}
