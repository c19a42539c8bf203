import assert from "node:assert/strict";
import { ProjectAddresses } from "../../web/addresses.ts";
import { activityWords } from "../../web/parts/activity_words.ts";

const HASH = "0495fb8bd296088d";

Deno.test("the engine's sentences are shown in words, with the page they are about", () => {
  const to = new ProjectAddresses("demo", "fossil");
  const ticket = `New ticket [${HASH}|0495fb8bd2] <i>Escape &lt;i&gt; and [a|b]</i>.`;
  const attached = `Add attachment [/artifact/${HASH}|logo.png] to wiki page [Home]`;
  for (
    const [kind, comment, words, target] of [
      ["ticket", ticket, "New ticket 0495fb8bd2 “Escape <i> and [a|b]”.", to.ticket(HASH)],
      ["tag", `Edit [${HASH}|0495fb8bd2]: Add tag "v1".`, 'Edit 0495fb8bd2: Add tag "v1".', null],
      ["wiki", "+Old/Page", "New page “Old/Page”", to.wiki("Old/Page")],
      ["wiki", ":Home", "Changed page “Home”", to.wiki("Home")],
      ["wiki", "-Home", "Deleted page “Home”", `${to.wiki("Home")}?view=history`],
      ["wiki", attached, "Add attachment logo.png to wiki page Home", to.wiki("Home")],
      ["forum", "Post: [a|b]", "Post: [a|b]", to.at(`/forum/${HASH}`)],
      ["technote", "Release <i>day</i>", "Release <i>day</i>", to.technote(HASH)],
      ["checkin", "Fix [a|b]", "Fix [a|b]", to.checkin(HASH)],
    ] as const
  ) {
    const shown = activityWords(to, { kind, uuid: HASH, comment });
    assert.equal(shown.words, words);
    assert.equal(shown.target, target ?? to.checkin(HASH));
  }
});
