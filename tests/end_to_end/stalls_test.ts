import { assertQuick, walkOnce } from "../soak/stalls.ts";
import { startProgram } from "../support/program.ts";

Deno.test("a long run of any character in any field, argument or line keeps nobody waiting", async () => {
  await using program = await startProgram();
  assertQuick(await walkOnce(program));
});
