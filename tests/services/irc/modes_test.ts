import assert from "node:assert/strict";
import fc from "fast-check";
import {
  CHANNEL_MODES,
  formatModes,
  parseChannelModes,
  takesParameter,
} from "../../../services/irc/channels/modes.ts";
import { startServer } from "./support/server.ts";

const change = fc.constantFrom(...CHANNEL_MODES.values()).chain(({ letter, kind }) => {
  return fc.record({ add: fc.boolean(), param: fc.stringMatching(/^[a-z!@*]{1,9}$/) })
    .map(({ add, param }) => ({ add, letter, param: takesParameter(kind, add) ? param : null }));
});

Deno.test("parseChannelModes() undoes formatModes()", () => {
  fc.assert(fc.property(fc.array(change), (changes) => {
    assert.deepEqual(parseChannelModes(formatModes(changes)), changes);
  }));
});

Deno.test("MODE leaves a channel with the modes that a model has", async () => {
  const flag = fc.record({ add: fc.boolean(), letter: fc.constantFrom("i", "m", "n", "s", "t") });
  const key = fc.record({
    add: fc.boolean(),
    letter: fc.constant("k"),
    param: fc.stringMatching(/^[a-z]{1,5}$/),
  });
  const limit = fc.record({
    add: fc.boolean(),
    letter: fc.constant("l"),
    param: fc.integer({ min: 1, max: 99 }).map(String),
  });
  const changes = fc.array(fc.oneof(flag, key, limit), { maxLength: 12 });

  await using server = startServer();
  const operator = await server.client("op");
  let channels = 0;
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      const channel = `#m${++channels}`;
      const model = new Map<string, string>([["n", ""], ["t", ""]]);
      operator.send(`JOIN ${channel}`);
      for (const { add, letter, ...rest } of list) {
        const param = "param" in rest ? rest.param : "";
        operator.send(`MODE ${channel} ${add ? "+" : "-"}${letter} ${param}`);
        if (add) model.set(letter, param);
        else model.delete(letter);
      }
      await operator.sync();
      operator.send(`MODE ${channel}`, `PART ${channel}`);
      const [modes] = await operator.sync();
      const letters = [..."imnstkl"].filter((letter) => model.has(letter));
      const params = letters.map((letter) => model.get(letter)).filter((param) => param !== "");
      assert.equal(modes, ["324 op", channel, `+${letters.join("")}`, ...params].join(" "));
    }),
    { numRuns: 40 },
  );
});
