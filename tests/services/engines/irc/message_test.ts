import assert from "node:assert/strict";
import fc from "fast-check";
import { formatMessage, parseMessage } from "../../../../services/engines/irc/protocol/message.ts";
import { fuzzMessages } from "./fuzz_message.ts";
import { THOROUGH } from "../../../support/level.ts";

const text = fc.string({ unit: "grapheme" }).map((value) => value.replace(/[\0\r\n]/g, ""));
const word = text.map((value) => value.replaceAll(" ", "")).filter((value) => value !== "");
const middle = word.filter((value) => !value.startsWith(":"));
const tagKey = fc.stringMatching(/^\+?[a-z][a-z0-9/.-]{0,20}$/);
const tagValue = fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\0", ""));

Deno.test("parseMessage() undoes formatMessage()", () => {
  const message = fc.record({
    tags: fc.array(fc.tuple(tagKey, tagValue)).map((entries) => new Map(entries)),
    source: fc.option(word, { nil: null }),
    command: fc.stringMatching(/^([A-Z]+|[0-9]{3})$/),
    params: fc.tuple(fc.array(middle), text).map(([middles, last]) => [...middles, last]),
  }, { noNullPrototype: true });
  fc.assert(fc.property(message, (parts) => {
    assert.deepEqual(parseMessage(formatMessage(parts)), parts);
  }));
});

Deno.test("parseMessage() reads the examples of the specifications", () => {
  const none = new Map();
  assert.deepEqual(parseMessage("ping"), { tags: none, source: null, command: "PING", params: [] });
  assert.deepEqual(parseMessage(":a!b@c PRIVMSG #x  y :z :  "), {
    tags: none,
    source: "a!b@c",
    command: "PRIVMSG",
    params: ["#x", "y", "z :  "],
  });
  const tagged = parseMessage("@id=1;+x/y=a\\:b\\s\\\\\\r\\n\\q\\;empty=;bare;id=2 TAGMSG #x");
  assert.deepEqual([...tagged?.tags ?? []], [
    ["id", "2"],
    ["+x/y", "a;b \\\r\nq"],
    ["empty", ""],
    ["bare", ""],
  ]);
});

Deno.test("parseMessage() refuses malformed messages", () => {
  for (const line of ["", " ", ":source", "@tags", "@t :s", ":s  ", "a\0b", "A b\rC", "A\nB"]) {
    assert.equal(parseMessage(line), null, JSON.stringify(line));
  }
});

Deno.test("formatMessage() never turns one parameter into another", () => {
  const message = { command: "401", params: ["nick", "two words", ":colon", "", "end"] };
  assert.equal(formatMessage(message), "401 nick * * * end");
});

Deno.test("any bytes can be read as messages without failure", THOROUGH, () => {
  fuzzMessages(50_000, 1);
});
