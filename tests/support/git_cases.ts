/** Cases that one project goes through, one after the other, each with its name. */
import { type GitTest, withGit } from "./git_door.ts";
import type { Clone } from "./git_client.ts";
import { peer } from "./peers.ts";

/** A project with a clone of it, which pushes. */
export interface CaseTest extends GitTest {
  readonly clone1: Clone;
}

type Cases = Readonly<Record<string, (test: CaseTest) => Promise<void>>>;

/** A test of cases that Git's own tests have, too: the title names the script. */
export function gitCases(
  title: string,
  prepare: (test: GitTest) => Promise<Clone>,
  cases: Cases,
): void {
  Deno.test({
    name: title,
    ...peer("git"),
    fn: async (context) => {
      await withGit(async (test) => {
        const clone1 = await prepare(test);
        for (const [name, run] of Object.entries(cases)) {
          const isPassed = await context.step(name, () => run({ ...test, clone1 }));
          if (!isPassed) return;
        }
      });
    },
  });
}
