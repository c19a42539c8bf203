import assert from "node:assert/strict";
import { addresses } from "../../web/elements/chat_rules.ts";
import { DEFAULTS } from "../../services/operation/config/defaults.ts";
import { addressing } from "../../web/parts/chat/robots.ts";

const addressesNick = addressing({ config: DEFAULTS });

Deno.test("a line of muster addresses whom it names, but never whose act it tells of", () => {
  const cases: readonly [string, boolean][] = [
    ["ann approved review 3 “Fix”", false],
    ["Ann approved review 3 “Help ann”", false],
    ["bob asked ann for a verdict on review 3 “Fix”", true],
    ["bob filed ticket 0123456789 “Tell ann about it”", false],
    ["bob committed 0123456789 to trunk: thanks to ann", false],
    ["The claim of ann on ticket 0123456789 expired", true],
    ["bob ended the claim of ann on ticket 0123456789", true],
    ["Review 3 “Ask “ann” first” of ann came back from the landing queue: a conflict", true],
    ["Review 3 “Fix” of ann waits in the landing queue of trunk", false],
    ["Review 3 “Fix” of ann landed on trunk as 0123456789", true],
    ["[muster] ann pushed 3 commits: for ann", false],
    ["ann: your build passed", true],
    ["Reminder: ann, review 3 waits", true],
    ["Question 12 from coder-1 to ann: Land it?", true],
    ["joann approved review 3", false],
  ];
  for (const [text, expected] of cases) {
    for (const speaker of ["bridge", "herald", "Shepherd"]) {
      assert.equal(addressesNick(text, "ann", speaker), expected, `${speaker}: ${text}`);
    }
  }
  assert.equal(addresses({ nick: "bob", text: "ann could you look" }, "ann", false), true);
  assert.equal(addressesNick("ann could you look", "ann", "coder-1"), true);
  assert.equal(addressesNick("I, ann", "ann", "Ann"), false);
});

Deno.test("the bridge is muster itself under any nick", () => {
  const bridge = { ...DEFAULTS.bridge, nick: "Hermes" };
  const named = addressing({ config: { ...DEFAULTS, bridge } });
  const onNode = addressing({
    config: { ...DEFAULTS, bridge, node: { ...DEFAULTS.node, name: "b" } },
  });
  const line = "ann approved review 3";
  assert.equal(named(line, "ann", "hermes"), false);
  assert.equal(onNode(line, "ann", "Hermes-b"), false);
  assert.equal(addressesNick(line, "ann", "Hermes"), true);
});
