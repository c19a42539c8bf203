import assert from "node:assert/strict";
import { join } from "node:path";
import { Random } from "../../services/engines/fossil/support/random.ts";
import { Clone, GitClient } from "../../support/git_client.ts";
import { type Program, runMuster, startProgram } from "../../support/program.ts";
import { FossilClient } from "../../support/sync.ts";
import { asked } from "../../support/until.ts";
import { withFolder } from "../../support/temporary.ts";
import { Client } from "../client.ts";
import { nameOf, prepare } from "../project.ts";
import { compareClones } from "./comparison.ts";
import { RandomFiles } from "./files.ts";
import { SeenHistory } from "./history.ts";
import { Person, type Shared } from "./person.ts";

/** What a run did. */
export interface Work {
  /** How often each operation changed something. */
  readonly done: ReadonlyMap<string, number>;
  /** Commits of a fresh clone. */
  readonly commits: number;
  /** Objects that references have ever named. */
  readonly objects: number;
}

/**
 * Lets three people change one project at random, through `git`, `fossil` and the API. In the end, fresh
 * clones of both kinds have the same files at every commit, every hash that was ever shown is there,
 * and nothing is unsound, also after all that is derived is made anew.
 *
 * @throws AssertionError that says what differs, or what a program printed
 */
export async function workAtBothDoors(operations: number, seed: number): Promise<Work> {
  const random = new Random(seed);
  const shared: Shared = {
    random,
    files: new RandomFiles(random),
    seen: new SeenHistory(),
    done: new Map(),
    log: [],
  };
  let commits = 0;
  await withFolder(async (folder) => {
    const environment = {
      MUSTER_PROJECTS_WORKSPACES_PER_AGENT: "1000000",
      MUSTER_PROJECTS_WORKSPACES: "1000000",
    };
    using stack = new DisposableStack();
    const git = stack.use(new GitClient());
    let program = await startProgram({ folder, environment });
    try {
      const tokens = await prepare(program, 3);
      const people: Person[] = [];
      for (const [index, token] of tokens.entries()) {
        const name = nameOf(index);
        const fossil = stack.use(new FossilClient("fossil", name));
        const checkout = await fossil.checkout(urlOf(program, { name, token }, "/fossil"));
        // Without this, Fossil 2.21 takes each symbolic link for a change, and `update` may end on SIGABRT.
        await fossil.fossil(["settings", "allow-symlinks", "on"], checkout);
        people.push(
          new Person(shared, {
            name,
            fossil,
            git: await git.clone(urlOf(program, { name, token }, ".git")),
            checkout,
            api: new Client(program.api, token),
          }),
        );
      }
      const [first, token] = [people[0]!, tokens[0]!];
      for (const [index, person] of people.entries()) {
        person.approver = people[(index + 1) % people.length]!;
      }
      await first.begin();
      for (let step = 0; step < operations; step++) await random.pick(people).workAtRandom();
      const account = { name: first.name, token };
      const fossil = stack.use(new FossilClient("fossil", first.name));
      commits = await compareClones({
        program,
        git,
        fossil,
        seen: shared.seen,
        urlOf: (door) => urlOf(program, account, door),
      });
      const doctor = await runMuster(["doctor"], { folder });
      assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
      await program.stop();
      const projects = join(folder, "data", "projects");
      for await (const { name } of Deno.readDir(projects)) {
        // There is a pack only if a clone was too long for one answer.
        if (/^soak\.(?:objects|pack)$/.test(name)) await Deno.remove(join(projects, name));
      }
      program = await startProgram({ folder, environment });
      const url = urlOf(program, account, ".git");
      await asked(
        () => git.run(["ls-remote", url]),
        ({ stderr }) => !stderr.includes("objects of this project are being made"),
      );
      const made = await git.clone(url, "--mirror");
      assert.deepEqual(
        await refsOf(made),
        [...shared.seen.refs].map(([ref, object]) => `${object} ${ref}`).sort(),
      );
    } catch (error) {
      throw new Error(`seed ${seed}: ${shared.log.slice(-10).join("\n")}`, { cause: error });
    } finally {
      await program.stop();
    }
  });
  return { done: shared.done, commits, objects: shared.seen.objects.size };
}

async function refsOf(clone: Clone): Promise<string[]> {
  return (await clone.refs()).trim().split("\n").sort();
}

interface Account {
  readonly name: string;
  readonly token: string;
}

/** The URL of the project for an account. */
function urlOf(program: Program, { name, token }: Account, door: ".git" | "/fossil"): string {
  return `${program.api.replace("//", `//${name}:${token}@`)}/projects/soak${door}`;
}
