import assert from "node:assert/strict";
import fc from "fast-check";
import { ListTexts } from "../../../../services/chat/messages/mod.ts";

Deno.test("a list is written as JSON.stringify does, whatever was written before", () => {
  const items = Array.from({ length: 6 }, (_, id) => ({ id, text: "x".repeat(id ** 6) }));
  const names = Array.from({ length: 80 }, (_, place) => `#channel-${place}`);
  const asked = fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      items: fc.array(fc.constantFrom(...items), { maxLength: 4 }),
    }),
    { maxLength: 300 },
  );
  fc.assert(fc.property(asked, (lists) => {
    const texts = new ListTexts<object>();
    for (const { name, items } of lists) {
      assert.equal(texts.of(name, items), JSON.stringify(items));
    }
  }));
});

Deno.test("a list that lost, gained or replaced an item is written again", () => {
  const texts = new ListTexts<{ text: string }>();
  const [one, two] = [{ text: "one" }, { text: "two" }];
  for (const items of [[one], [one, two], [two], [{ text: "two, edited" }], [], [one]]) {
    assert.equal(texts.of("#a", items), JSON.stringify(items));
  }
});
