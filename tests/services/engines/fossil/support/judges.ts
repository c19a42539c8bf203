/** Tests that the `fossil` program judges: the machine's own, and a newer one. */
import { newerFossil, peer } from "../../../../support/peers.ts";

/**
 * The programs that judge, for a test that needs no program until the end: it makes a repository
 * once, and each of them judges it. The machine's own comes first; a newer one may be missing.
 */
export function judges(): readonly string[] {
  return peer("newer fossil").ignore ? ["fossil"] : ["fossil", newerFossil()];
}

/**
 * Registers a test for each of the two programs.
 *
 * @param work is given the program, as `Scratch` takes it.
 * @param ignore where something else is missing that the test needs.
 */
export function judged(
  name: string,
  work: (program: string) => void | Promise<void>,
  ignore = false,
): void {
  const judges = [
    { program: "fossil", title: name, isMissing: peer("fossil").ignore },
    {
      program: newerFossil(),
      title: `${name} (newer fossil)`,
      isMissing: peer("newer fossil").ignore,
    },
  ];
  for (const { program, title, isMissing } of judges) {
    Deno.test({ name: title, ignore: isMissing || ignore, fn: () => work(program) });
  }
}
