import assert from "node:assert/strict";
import { callAs, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { startProgram } from "../support/program.ts";

/** What docs/security.md says of wrong passwords, at each place that takes one. */
Deno.test("wrong passwords over HTTP, SASL, IDENTIFY and OPER count together, per address", async () => {
  await using program = await startProgram({
    environment: { MUSTER_TRUSTED_PROXIES: "[127.0.0.1]" },
  });
  const scout = await registerAgent(program, "scout");
  const other = await registerAgent(program, "other");
  const wrong = { nick: "scout", passphrase: "wrong" };
  const statusOf = async (answer: Promise<Response>) => {
    const response = await answer;
    await response.body?.cancel();
    return response.status;
  };

  await using guest = await IrcClient.connect(program.irc);
  await guest.register({ nick: "guest" });
  await guest.send("CAP REQ :sasl");
  await guest.expect(/ ACK :?sasl/);
  for (let time = 0; time < 2; time++) {
    await guest.send("AUTHENTICATE PLAIN", `AUTHENTICATE ${btoa("scout\0scout\0wrong")}`);
    await guest.expect(/ 904 /);
    await guest.send("PRIVMSG NickServ :IDENTIFY scout wrong");
    await guest.expect(/NickServ.* NOTICE guest .*[Ww]rong/);
    await guest.send("OPER scout wrong");
    await guest.expect(/ 464 /);
  }
  for (let time = 0; time < 4; time++) {
    assert.equal(await statusOf(callAs(program, wrong, "GET", "/v1/channels")), 401);
  }

  const refused = await callAs(program, scout, "GET", "/v1/channels");
  await refused.body?.cancel();
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  await guest.send(
    "AUTHENTICATE PLAIN",
    `AUTHENTICATE ${btoa(`scout\0scout\0${scout.passphrase}`)}`,
  );
  await guest.expect(/ 904 /);

  assert.equal(await statusOf(callAs(program, other, "GET", "/v1/channels")), 200);
  const elsewhere = fetch(`${program.api}/v1/channels`, {
    headers: {
      authorization: `Basic ${btoa(`scout:${scout.passphrase}`)}`,
      "x-forwarded-for": "192.0.2.7",
    },
  });
  assert.equal(await statusOf(elsewhere), 200);
});
