/** The memory that a clone of a large project takes. */
import { join } from "node:path";
import { Workbench } from "../fossil/workbench.ts";
import { delay } from "../parallel.ts";
import { familyMemory } from "../process_usage.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { GitBackend } from "./git_backend.ts";
import { GitProgram } from "./git_program.ts";
import { GitProject } from "./git_project.ts";

/** Files that no program can compress, in as many commits. */
const [FILES, MEGABYTES] = [50, 10];
/** The aim for the memory that a clone takes, in megabytes. */
const AIM_MB = 200;
const MEBIBYTE = 1024 * 1024;

export const GIT_LARGE: Scenario = {
  name: "git-large",
  anyIrcServer: false,
  describe: () =>
    `memory (PSS) of all processes while the git program clones ${FILES} files of ` +
    `${MEGABYTES} MB, beside that before`,
  async measure() {
    await using bench = await Workbench.open();
    const git = new GitProgram(bench.folder);
    await makeRepository(git, bench.path("served"));
    await git.run(["clone", "--quiet", "--bare", "served", "served.git"]);
    await using backend = await GitBackend.start(bench.folder, bench.folder);
    const home = bench.path("muster");
    await Deno.mkdir(home);
    await using project = await GitProject.start(home, `${backend.url}/served.git`);
    const growth = async (name: string) => {
      const value = await growthIn(project, async () => {
        const target = bench.path("clone");
        await git.run(["clone", "--quiet", "--bare", project.url, target]);
        await Deno.remove(target, { recursive: true });
      });
      return { name: `more memory while ${name}`, value, unit: "MB", aim: AIM_MB };
    };
    const figures: Figure[] = [];
    await project.restartWithout(".pack");
    figures.push(await growth("a pack is made"));
    await project.restartWithout();
    figures.push(await growth("the pack is there"));
    return figures;
  },
};

async function makeRepository(git: GitProgram, folder: string): Promise<void> {
  await git.run(["init", "--quiet", "--initial-branch=trunk", folder]);
  await git.run(["config", "core.compression", "0"], folder);
  for (let file = 0; file < FILES; file++) {
    const bytes = new Uint8Array(MEGABYTES * MEBIBYTE);
    for (let at = 0; at < bytes.length; at += 0x10000) {
      crypto.getRandomValues(bytes.subarray(at, at + 0x10000));
    }
    await Deno.writeFile(join(folder, `file-${file}`), bytes);
    await git.commit(folder, `file ${file}\n`, `file-${file}`);
  }
}

/** By how many megabytes the memory of a server grows during some work, at most. */
async function growthIn({ pids }: GitProject, work: () => Promise<void>): Promise<number> {
  const read = async () => (await familyMemory(pids)).proportionalBytes;
  const before = await read();
  let most = before;
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await delay(50)) most = Math.max(most, await read());
  })();
  await work().finally(() => isOver = true);
  await watching;
  return (most - before) / MEBIBYTE;
}
