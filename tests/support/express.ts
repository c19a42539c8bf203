/** A project with the repository of express, which not every machine has. */
import { join } from "node:path";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { peer } from "./peers.ts";
import { type TestProject, withProject } from "./projects.ts";
import { BY_OPERATOR } from "./services.ts";
import { originOf } from "../../services/people/identity/mod.ts";

const EXPRESS = new URL("../../../shared/data/express.fossil", import.meta.url);

/** A project with express.fossil imported, and the `fossil` program on a copy of the file. */
export interface ExpressProject extends TestProject {
  /** Runs the program in a checkout of the copy; returns its standard output. */
  fossil(...args: string[]): string;
  /** Like `fossil`, in lines. */
  lines(...args: string[]): string[];
}

/** Registers a test on a project that has the repository of express; the import takes a while. */
export function withExpress(
  name: string,
  run: (test: ExpressProject, step: Deno.TestContext["step"]) => Promise<void>,
): void {
  Deno.test({
    name: `express.fossil: ${name}`,
    ignore: peer("fossil").ignore || isMissing(EXPRESS),
    fn: ({ step }) =>
      withProject(async (test) => {
        using scratch = new Scratch();
        const path = join(scratch.folder, "express.fossil");
        await Deno.copyFile(EXPRESS, path);
        await Deno.chmod(path, 0o600);
        const { repositories } = test.api.services.hosting;
        await repositories.import(test.project, { source: path, format: "fossil" }, {
          origin: originOf(BY_OPERATOR),
        });
        const checkout = scratch.path("checkout");
        await Deno.mkdir(checkout);
        const fossil = (...args: string[]) => scratch.fossil(args, checkout);
        fossil("open", path);
        const lines = (...args: string[]) => fossil(...args).split("\n").slice(0, -1);
        await run({ ...test, fossil, lines }, step);
      }),
  });
}

function isMissing(url: URL): boolean {
  try {
    return !Deno.statSync(url).isFile;
  } catch {
    return true;
  }
}
