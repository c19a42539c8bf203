import assert from "node:assert/strict";
import fc from "fast-check";
import {
  CHANNEL_MODES,
  formatModes,
  parseChannelModes,
  takesParameter,
} from "../../../../services/engines/irc/channels/modes.ts";
import * as numerics from "../../../../services/engines/irc/protocol/numerics.ts";
import { startServer } from "./support/server.ts";
import { THOROUGH } from "../../../support/level.ts";

const change = fc.constantFrom(...CHANNEL_MODES.values()).chain(({ letter, kind }) => {
  return fc.record({ add: fc.boolean(), param: fc.stringMatching(/^[a-z!@*]{1,9}$/) })
    .map(({ add, param }) => ({ add, letter, param: takesParameter(kind, add) ? param : null }));
});

Deno.test("parseChannelModes() undoes formatModes()", THOROUGH, () => {
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

Deno.test("a mask that begins with a colon is listed and announced as it is", async () => {
  await using server = startServer();
  const operator = await server.client("op");
  const ann = await server.client("ann");
  operator.send("JOIN #c");
  await operator.sync();
  ann.send("JOIN #c");
  await ann.sync();
  await operator.sync();
  const lists = [["b", "367", "368"], ["e", "348", "349"], ["I", "346", "347"]] as const;
  for (const [letter, entry, end] of lists) {
    operator.send(`MODE #c +${letter}${letter}t x ::x`, `MODE #c ${letter}`);
    const [made, ...listed] = await operator.syncMessages();
    assert.deepEqual(made?.params, ["#c", `+${letter}${letter}`, "x!*@*", ":x!*@*"]);
    assert.deepEqual((await ann.syncMessages())[0]?.params, made?.params);
    assert.deepEqual(listed.map(({ command }) => command), [entry, entry, end]);
    assert.deepEqual(listed[0]?.params.slice(0, 3), ["op", "#c", "x!*@*"]);
    assert.equal(listed[0]?.params.length, 5);
    // Who set it, and when, could only stand behind it.
    assert.deepEqual(listed[1]?.params, ["op", "#c", ":x!*@*"]);
    operator.send(`MODE #c -${letter} ::X`, `MODE #c ${letter}`);
    const [removed, ...rest] = await operator.syncMessages();
    assert.deepEqual(removed?.params, ["#c", `-${letter}`, ":x!*@*"]);
    assert.deepEqual(rest.map(({ command }) => command), [entry, end]);
    await ann.sync();
  }
});

/** Commands with a text of a user in their last parameter, which answers may quote. */
const QUOTING = [
  ...["ACCEPT", "AWAY", "CAP", "CAP REQ", "CHATHISTORY", "CHATHISTORY LATEST", "HELP", "INVITE"],
  ...["INVITE op", "ISON", "JOIN", "JOIN #c", "KICK", "KICK #c", "KLINE", "LINKS", "LIST"],
  ...["MARKREAD", "MARKREAD #c", "METADATA", "METADATA *", "METADATA * GET", "METADATA * SET"],
  ...["METADATA * SET a", "MODE", "MODE #c", "MODE #c +b", "MODE #c +k", "MODE #c +l"],
  ...["MODE #c +o", "MONITOR", "MONITOR +", "NAMES", "NICK", "NOTICE", "PART", "PRIVMSG"],
  ...["REDACT", "REDACT #c", "REGISTER", "REGISTER * *", "RELAYMSG", "RELAYMSG #c x", "RENAME"],
  ...["RENAME #c", "STATS", "TIME", "TOPIC", "USERHOST", "VERSION", "WHO", "WHO * %tna", "WHOIS"],
  ...["WHO op %tnar,", "WHOIS op", "WHOWAS", "NOSUCH", "OPER", "OPER x", "BATCH", "AUTHENTICATE"],
];

/** The texts that end numerics, where a numeric has always the same. */
const ENDS = new Map(
  Object.values(numerics).flatMap((numeric) =>
    typeof numeric === "string" ? [] : [[numeric.code, numeric.text] as const]
  ),
);

Deno.test("no answer has a parameter that a client would read as another one", async () => {
  await using server = startServer();
  const operator = await server.client("op");
  operator.send("JOIN #c");
  await operator.sync();
  for (const quoted of ["", ":", ":x", "::x", " ", "a b", " x", ": x", "x :y", "#a b", ":op"]) {
    for (const command of QUOTING) {
      operator.send(`${command} :${quoted}`, "NICK op");
      for (const { command: code, params } of await operator.syncMessages()) {
        const label = `${command} :${quoted} -> ${code} ${params.join(" | ")}`;
        const end = ENDS.get(code) ?? null;
        if (end !== null) assert.equal(params.at(-1), end, label);
        else if (code === "FAIL") assert.ok(!params.at(-1)?.includes(`${quoted} :`), label);
      }
    }
  }
});
