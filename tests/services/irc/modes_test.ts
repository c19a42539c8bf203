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

Deno.test("a mask that begins with a colon is listed and announced as it is", async () => {
  await using server = startServer();
  const operator = await server.client("op");
  operator.send("JOIN #c");
  await operator.sync();
  for (
    const [letter, entry, end] of [["b", "367", "368"], ["e", "348", "349"], ["I", "346", "347"]]
  ) {
    operator.send(`MODE #c +i${letter} ::x`, `MODE #c ${letter}`);
    const [made, listed, ended] = await operator.sync();
    const added = letter === "b" ? `+ib` : `+${letter}`;
    assert.match(
      made ?? "",
      new RegExp(`^:op!\\S+ MODE #c ${added.replace("+", "\\+")} ::x!\\*@\\*$`),
    );
    assert.equal(listed, `${entry} op #c ::x!*@*`);
    assert.match(ended ?? "", new RegExp(`^${end} op #c :`));
    operator.send(`MODE #c -${letter} ::X`, `MODE #c ${letter}`);
    const [removed, ...rest] = await operator.sync();
    assert.match(removed ?? "", new RegExp(`MODE #c -${letter} ::x!\\*@\\*$`));
    assert.match(rest.join("\n"), new RegExp(`^${end} op #c :`));
  }
});

/** Commands with a text of a user in their last parameter, which answers may quote. */
const QUOTING = (
  "ACCEPT;AWAY;CAP;CAP REQ;CHATHISTORY LATEST;CHATHISTORY;HELP;INVITE op;INVITE;ISON;JOIN;JOIN #c;KICK #c;" +
  "KICK;KLINE;LINKS;LIST;MARKREAD #c;MARKREAD;METADATA * GET;METADATA * SET a;METADATA;METADATA * SET;" +
  "MODE #c +b;MODE #c +k;MODE #c +l;MODE #c +o;MODE #c;MODE;MONITOR +;MONITOR;NAMES;NICK;NOTICE;PART;" +
  "PING;PRIVMSG;REDACT #c;REGISTER * *;RELAYMSG #c x;RENAME #c;SETNAME;STATS;TIME;TOPIC #c;TOPIC;USERHOST;" +
  "VERSION;WHO;WHO * %tnuhiracdfls,;WHOIS;WHOIS op;WHOWAS;NOSUCH"
).split(";");

Deno.test("no answer has a parameter that a client would read as another one", async () => {
  await using server = startServer();
  const operator = await server.client("op");
  operator.send("JOIN #c");
  await operator.sync();
  const text = fc.constantFrom(
    "",
    ":",
    ":x",
    "::x",
    " ",
    "a b",
    " x",
    ": x",
    "x :y",
    "#a b",
    ":#c",
    ":op",
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...QUOTING), text, async (command, quoted) => {
      operator.send(`${command} :${quoted}`);
      for (const line of await operator.sync()) {
        const [, code = "", rest = ""] = /^(?::\S+ )?(\d{3}|FAIL) (\S+ ?.*)$/.exec(line) ?? [];
        if (code === "") continue;
        const [head = ""] = ` ${rest}`.split(" :", 1);
        assert.doesNotMatch(head, /  |^ :/, `${command} :${quoted} -> ${line}`);
        assert.equal(rest.split(" ")[0], code === "FAIL" ? command.split(" ")[0] : "op", line);
      }
      operator.send("NICK op");
      await operator.sync();
    }),
    { numRuns: 150 },
  );
});
