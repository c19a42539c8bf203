import assert from "node:assert/strict";
import { Invalid } from "../../../services/kernel/errors.ts";
import { IRC_CLIENTS, loginLines, passwordLines } from "../../../services/people/login_lines.ts";

const LOGIN = { name: "ann", server: "ircs://irc.example:6697", channels: ["general"] };

Deno.test("the lines for another password change the setting that the first login made", () => {
  const settings: Readonly<Record<string, string>> = {
    irssi: "-sasl_password PASSWORD",
    weechat: "/set irc.server.muster.sasl_password PASSWORD",
    hexchat: "Password: PASSWORD",
  };
  assert.deepEqual(Object.keys(settings).toSorted(), IRC_CLIENTS.toSorted());
  for (const [client, setting] of Object.entries(settings)) {
    const first = loginLines(client, { ...LOGIN, password: "old" });
    assert.ok(first.includes(setting.replace("PASSWORD", "old")), first);
    const change = passwordLines(client, "new");
    assert.ok(change.includes(setting.replace("PASSWORD", "new")), change);
    assert.equal(change.split("\n").length, 2);
  }
  // In irssi, the network is changed by the command that makes one.
  assert.match(passwordLines("irssi", "new"), / {2}\/network add .* muster$/);
});

Deno.test("a password that its owner knows is not shown", () => {
  for (const client of IRC_CLIENTS) {
    assert.match(loginLines(client, { ...LOGIN, password: null }), /YOUR-PASSWORD/);
    assert.match(passwordLines(client, null), /YOUR-PASSWORD/);
  }
  assert.throws(() => passwordLines("mirc", null), Invalid);
});
