/** Times in the timeline of an imported history whose commits follow each other within seconds. */
import assert from "node:assert/strict";
import { Repository } from "../../../../services/engines/fossil/mod.ts";
import { peer } from "../../../support/peers.ts";
import { encode, Scratch } from "./support/fossil.ts";
import { imported } from "./support/git.ts";
import { judges } from "./support/judges.ts";
import { Random } from "./support/random.ts";
import { difference, dumpTables } from "./support/tables.ts";

const START = 1_600_000_000;
const PER_SECOND = 6;
/** More than two of the import's transactions hold. */
const COMMITS = 550;

/** A history in which commits on several lines follow each other, and some change nothing. */
class QuickHistory {
  readonly #random: Random;
  readonly #tips = new Map<string, number>();
  readonly #lines: string[] = ["feature done\n"];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  stream(branches: readonly string[]): Uint8Array {
    for (let mark = 1; mark <= COMMITS; mark++) this.#commit(mark, branches);
    this.#lines.push("done\n");
    return encode(this.#lines.join(""));
  }

  #commit(mark: number, branches: readonly string[]): void {
    const random = this.#random;
    const branch = random.pick(branches);
    const seconds = START + Math.floor(mark / PER_SECOND) - (random.below(40) === 0 ? 1 : 0);
    const parent = this.#tips.get(branch) ?? this.#tips.get("main");
    const other = this.#tips.get(random.pick(branches));
    this.#lines.push(
      `commit refs/heads/${branch}\nmark :${mark}\ncommitter A <a@b> ${seconds} +0000\n`,
      `data 2\nm\n`,
      parent === undefined ? "" : `from :${parent}\n`,
      other === undefined || other === parent || random.below(5) > 0 ? "" : `merge :${other}\n`,
    );
    const file = random.below(8);
    if (file > 0) {
      const text = `${mark}\n`.repeat(random.below(40));
      this.#lines.push(`M 100644 inline f${file}\ndata ${text.length}\n${text}\n`);
    }
    this.#lines.push("\n");
    this.#tips.set(branch, mark);
  }
}

for (const branches of [["main"], ["main", "one", "two", "three"]]) {
  Deno.test(
    `six commits a second on ${branches.length} branches have the times that a rebuild gives them`,
    peer("fossil"),
    async () => {
      for (let seed = 1; seed <= 2; seed++) {
        using scratch = new Scratch();
        const { repository } = await imported(scratch, new QuickHistory(seed).stream(branches));
        const path = repository.db.value<string>("SELECT file FROM pragma_database_list")!;
        repository.close();
        const ours = dumpTables(path);
        assert.ok(ours.length > COMMITS);
        for (const program of judges()) {
          using judge = new Scratch(program);
          const theirs = judge.path("theirs.fossil");
          Deno.copyFileSync(path, theirs);
          judge.fossil(["rebuild", theirs]);
          assert.deepEqual(difference(ours, dumpTables(theirs)), [], `seed ${seed}, ${program}`);
        }
        using rebuilt = Repository.open(path);
        rebuilt.rebuild();
        assert.deepEqual(difference(dumpTables(path), ours), [], `seed ${seed}, rebuilt here`);
      }
    },
  );
}
