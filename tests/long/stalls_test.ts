import { assertQuick, walkSample } from "../soak/stalls/walk.ts";
import { startProgram } from "../support/program.ts";

Deno.test("a long run of any character in any field, argument, line or card keeps nobody waiting", async () => {
  await using program = await startProgram();
  assertQuick(await walkSample(program));
});
