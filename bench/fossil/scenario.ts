import type { Figure, Scenario } from "../scenario.ts";
import { hasFossil } from "./program.ts";
import { Workbench } from "./workbench.ts";

/** The aims, as parts of the program's time. */
export const AIM = { read: 0.1, commit: 0.2, whole: 1 } as const;

/** Runs of the program; the median counts. */
export const PROGRAM_RUNS = 5;

/** A scenario on a copy of the repository that the options name. */
export function fossilScenario(
  name: string,
  description: string,
  measure: (source: string, bench: Workbench) => Promise<Figure[]>,
): Scenario {
  return {
    name,
    anyIrcServer: false,
    describe: ({ repository }) => `${description}; ${repository}`,
    obstacle({ repository }) {
      if (!hasFossil()) return "the program fossil is not installed";
      return isFile(repository) ? null : `there is no ${repository}; --repository names one`;
    },
    async measure({ repository }) {
      await using bench = await Workbench.open();
      return await measure(repository, bench);
    },
  };
}

/** Whether there is a file at a path. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
