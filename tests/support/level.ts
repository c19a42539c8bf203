/**
 * How much a run of the tests does. `deno task test` is quick: it leaves what needs another program,
 * or takes long by nature, to `deno task test:all`.
 */

/** Whether `scripts/test.ts` wants the quick tests alone. */
export const IS_QUICK: boolean = Deno.env.get("MUSTER_TESTS") === "quick";

/** Options for `Deno.test` of a test that takes seconds by nature: large inputs, many rounds. */
export const THOROUGH: { readonly ignore: boolean } = Object.freeze({ ignore: IS_QUICK });
