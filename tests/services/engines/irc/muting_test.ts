import assert from "node:assert/strict";
import { COMMANDS } from "../../../../services/engines/irc/commands/mod.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";
import type { TestClient } from "./support/client.ts";

/** A word that only the muted account says. */
const WORD = "smuggled";

const REASON = "This agent is paused";

const EVERYTHING = [
  ...["message-tags", "away-notify", "account-notify", "setname", "invite-notify", "chghost"],
  ...["extended-join", "extended-monitor", "batch", "draft/metadata-2", "draft/channel-rename"],
  ...["draft/message-redaction", "draft/multiline", "draft/relaymsg", "echo-message"],
  ...["draft/pre-away", "draft/read-marker", "server-time", "labeled-response"],
].join(" ");

/** Parameters of every form, each with the word; commands take what fits. */
const FORMS = [
  `${WORD}`,
  `:${WORD} ${WORD}`,
  `#c ${WORD}`,
  `#c :${WORD} ${WORD}`,
  `#c,ann,&${WORD} ${WORD}`,
  `ann ${WORD}`,
  `ann :${WORD} ${WORD}`,
  `ann #c ${WORD}`,
  `ann,coder :${WORD}`,
  `#c #${WORD} :${WORD}`,
  `#c ann :${WORD}`,
  `#c ${WORD}/x :${WORD}`,
  `#c +b ${WORD}!*@*`,
  `#c +k ${WORD}`,
  `#c +t-s`,
  `* SET note :${WORD}`,
  `#c SET note :${WORD}`,
  `#c CLEAR`,
  `coder SET note :${WORD}`,
  `SET PASSWORD ${WORD}`,
  `TOPIC #c ${WORD}`,
  `REGISTER #${WORD}`,
  `${WORD} ${WORD} :${WORD}`,
  `${WORD} 0 * :${WORD}`,
  `#${WORD}`,
  `#c,#${WORD} ,${WORD}`,
  `coder +B`,
];

/** Lines that end the client or wait for more of it; they have tests of their own. */
const ENDING = new Set(["QUIT", "BATCH"]);

function pausable(): TestAccounts {
  const accounts = new TestAccounts({ coder: "secret", admin: "secret" });
  accounts.setStatus("coder", "operator");
  return accounts;
}

function pause(accounts: TestAccounts): void {
  accounts.muteReason = (account) => account === "coder" ? REASON : null;
}

/** A guest in `#c` with every capability, so that it sees every message. */
async function witness(server: TestServer): Promise<TestClient> {
  const ann = await server.client("ann", EVERYTHING);
  ann.send(
    "JOIN #c",
    "MODE #c +i-t",
    "MODE ann -i",
    "MONITOR + coder,smuggled",
    "METADATA * SUB note",
  );
  await ann.sync();
  return ann;
}

Deno.test("a paused account reaches nobody with any command", async () => {
  const accounts = pausable();
  await using server = startServer({ accounts });
  const ann = await server.client("ann", EVERYTHING);
  ann.send("JOIN #c", "MONITOR + coder,smuggled", "METADATA * SUB note", "MODE #c -t");
  const coder = await server.member("coder", "secret", EVERYTHING);
  coder.send("JOIN #c", "OPER admin secret", "PRIVMSG #c :before");
  const said = (await coder.syncMessages()).find(({ command }) => command === "PRIVMSG");
  const id = said?.tags.get("msgid");
  await ann.sync();
  pause(accounts);

  for (const command of COMMANDS.keys()) {
    if (ENDING.has(command) || command === "PART") continue;
    for (const form of [...FORMS, `#c ${id} :${WORD}`]) {
      coder.send(`@+note=${WORD} ${command} ${form}`);
    }
    await coder.sync();
    assert.deepEqual(await ann.sync(), [], command);
  }
  ann.send("WHOIS coder", "WHO #c", "LIST", "TOPIC #c", "MODE #c b", "METADATA coder LIST");
  ann.send("METADATA #c LIST", "NAMES #c", "MODE #c");
  const looks = (await ann.sync()).join("\n");
  assert.match(looks, /coder/);
  assert.doesNotMatch(looks, new RegExp(WORD));
});

Deno.test("a paused account may read and leave, but gives no reasons", async () => {
  const accounts = pausable();
  await using server = startServer({ accounts });
  const ann = await server.client("ann", EVERYTHING);
  ann.send("JOIN #c,#d", "TOPIC #c :work");
  const coder = await server.member("coder", "secret", EVERYTHING);
  coder.send("JOIN #c");
  await coder.sync();
  pause(accounts);
  coder.send(`JOIN #d,#${WORD} ${WORD}`, "TOPIC #c", "MODE #c", "MODE #c b", "INVITE", "AWAY");
  const answers = await coder.sync();
  assert.ok(answers.includes(`403 coder #${WORD} ${REASON}`), "new channels are refused");
  assert.ok(answers.includes("332 coder #c work"));
  assert.ok(!answers.some((line) => line.includes("MUTED")), answers.join("\n"));
  coder.send(`TOPIC #c :${WORD}`, `SETNAME :${WORD}`, `AWAY :${WORD}`, `NICK ${WORD}`);
  assert.deepEqual(
    await coder.sync(),
    ["TOPIC", "SETNAME", "AWAY", "NICK"].map((command) => `FAIL ${command} MUTED ${REASON}`),
  );
  await ann.sync();
  coder.send(`PART #d :${WORD}`, `QUIT :${WORD}`);
  await coder.untilClosed();
  const seen = await ann.sync();
  assert.ok(seen.includes("coder PART #d"));
  assert.equal(seen.at(-1), "coder QUIT Client quit");
  assert.doesNotMatch(seen.join("\n"), new RegExp(WORD));
});

Deno.test("a message of several lines that began before the pause reaches nobody", async () => {
  const accounts = pausable();
  await using server = startServer({ accounts });
  const ann = await server.client("ann", EVERYTHING);
  ann.send("JOIN #c");
  const coder = await server.member("coder", "secret", EVERYTHING);
  coder.send("JOIN #c", "BATCH +1 draft/multiline #c", `@batch=1 PRIVMSG #c :${WORD}`);
  await coder.sync();
  await ann.sync();
  pause(accounts);
  coder.send("BATCH -1");
  assert.deepEqual(await coder.sync(), [`404 coder #c ${REASON}`]);
  assert.deepEqual(await ann.sync(), []);
});

Deno.test("a paused account that connects shows no text in its names or from before", async () => {
  const accounts = pausable();
  await using server = startServer({ accounts });
  const ann = await witness(server);
  pause(accounts);
  const coder = await server.dial();
  coder.send("CAP LS 302", `CAP REQ :sasl ${EVERYTHING}`, `NICK ${WORD}`);
  coder.send(`USER ${WORD} 0 * :${WORD}`, `AWAY :${WORD}`, `METADATA * SET note :${WORD}`);
  coder.logIn("coder", "secret");
  coder.send("CAP END");
  await coder.until("422");
  ann.send("WHOIS coder", "METADATA coder LIST", `WHOIS ${WORD}`);
  const seen = await ann.sync();
  assert.ok(seen.some((line) => /^311 ann coder ~user \S+ \* coder$/.test(line)));
  assert.ok(seen.includes(`401 ann ${WORD} No such nick`));
  assert.equal(seen.filter((line) => line.includes(WORD)).length, 2, seen.join("\n"));
});
