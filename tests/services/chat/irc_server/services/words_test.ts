import * as fc from "fast-check";
import assert from "node:assert/strict";
import { withServices } from "./support.ts";

const COMMANDS = [
  ...["NS INFO", "NS GHOST", "NS RECOVER", "NS SET", "NS HELP", "NS REGISTER", "NS ID"],
  ...["CS REGISTER", "CS DROP", "CS TRANSFER", "CS INFO", "CS LIST", "CS AMODE", "CS TOPIC"],
  ...["CS OP", "CS DEOP", "CS VOICE", "CS DEVOICE", "CS HELP", "NS", "CS", "PRIVMSG ChanServ"],
];

const WORDS = [
  "#den",
  "#DEN",
  "#other",
  "ann",
  "ANN",
  "nobody",
  "ChanServ",
  "+o",
  "-v",
  "+ov",
  "*",
];

Deno.test("the services answer any text without failure", async () => {
  const word = fc.oneof(
    fc.constantFrom(...WORDS),
    fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.replaceAll(/[\0\r\n ]/g, "_")),
    fc.constantFrom("__proto__", "constructor", "\x01VERSION\x01", "é".repeat(40)),
  );
  const line = fc.tuple(fc.constantFrom(...COMMANDS), fc.array(word, { maxLength: 4 }))
    .map(([command, words]) => [command, ...words].join(" "));
  await withServices(async (world) => {
    await world.person("ann");
    const ann = await world.member("ann");
    await ann.ask("JOIN #den");
    for (const said of fc.sample(line, 400)) {
      const answers = await ann.ask(said);
      assert.ok(!answers.some((answer) => /Internal error/.test(answer)), said);
    }
    const faults = world.services.log.lines.filter((text) => text.startsWith("error"));
    assert.deepEqual(faults, []);
  });
});
