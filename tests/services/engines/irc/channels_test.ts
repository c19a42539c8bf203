import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

Deno.test("each member sees JOIN and PART in the form that it asked for", async () => {
  await using server = startServer({ accounts: new TestAccounts({ alice: "secret" }) });
  const plain = await server.client("bob");
  const extended = await server.client("carol", "extended-join");
  for (const client of [plain, extended]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await plain.sync();
  const alice = await server.member("alice", "secret");
  alice.send("JOIN #C,#d", "PART #c :so long", "JOIN 0");
  assert.deepEqual(await alice.sync(), [
    "alice JOIN #c",
    "MODE #c +o alice",
    "353 alice = #c @bob carol @alice",
    "366 alice #c End of /NAMES list",
    "alice JOIN #d",
    "353 alice = #d @alice",
    "366 alice #d End of /NAMES list",
    "alice PART #c so long",
    "alice PART #d Left all channels",
  ]);
  const rest = ["MODE #c +o alice", "alice PART #c so long"];
  assert.deepEqual(await plain.sync(), ["alice JOIN #c", ...rest]);
  assert.deepEqual(await extended.sync(), ["alice JOIN #c alice alice", ...rest]);
});

Deno.test("bad names, strangers and limits are refused at JOIN, PART and TOPIC", async () => {
  await using server = startServer({ limits: { channelsPerClient: 2 } });
  const bob = await server.client("bob");
  bob.send("JOIN c", "JOIN #a,#b,#c", "PART #x", `JOIN #${"x".repeat(80)}`, "TOPIC #x", "JOIN #a");
  assert.deepEqual((await bob.sync()).filter((line) => /^4/.test(line)), [
    "403 bob c No such channel",
    "405 bob #c You have joined too many channels",
    "403 bob #x No such channel",
    `403 bob #${"x".repeat(80)} No such channel`,
    "403 bob #x No such channel",
  ]);
});

Deno.test("modes i, k, l and b keep out, and their exceptions let in", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  op.send("JOIN #c");
  async function attempt(mode: string, key = ""): Promise<string> {
    op.send(`MODE #c ${mode}`);
    await op.sync();
    guest.send(`JOIN #c ${key}`);
    const [answer = ""] = await guest.sync();
    if (answer.includes("JOIN")) guest.send("PART #c");
    await guest.sync();
    return answer.split(" ").slice(0, 2).join(" ");
  }
  assert.equal(await attempt("+i"), "473 guest");
  assert.equal(await attempt("+I gu*"), "guest JOIN");
  assert.equal(await attempt("-iI+k gu* sesame"), "475 guest");
  assert.equal(await attempt("+n", "sesame"), "guest JOIN");
  assert.equal(await attempt("-k+l * 1"), "471 guest");
  assert.equal(await attempt("-l+b guest!*@*"), "474 guest");
  assert.equal(await attempt("+e *!~GUEST@*"), "guest JOIN");
  assert.equal(await attempt("-e *!~guest@*"), "474 guest");
  op.send("MODE #c +i", "INVITE guest #c");
  await op.sync();
  guest.send("JOIN #c");
  assert.deepEqual((await guest.sync()).slice(0, 2), ["op INVITE guest #c", "guest JOIN #c"]);
});

Deno.test("MODE reports impossible changes and makes the others", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  await server.client("outside");
  for (const client of [op, guest]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await op.sync();
  guest.send("MODE #c +m", "MODE #c b", "MODE #nowhere +m");
  assert.deepEqual(await guest.sync(), [
    "482 guest #c You are not a channel operator",
    "368 guest #c End of channel ban list",
    "403 guest #nowhere No such channel",
  ]);
  op.send(
    "MODE #c +xo-v+l outside guest 0",
    "MODE #c +ovk guest nobody :two words",
    "MODE #c +b x",
  );
  op.send("MODE #c +b X!*@*", "MODE #c -b x!*@*");
  assert.deepEqual(await op.sync(), [
    "472 op x is not a mode known to this server",
    "441 op outside #c They are not on that channel",
    "696 op #c l 0 Limit is not a positive number",
    "401 op nobody No such nick",
    "696 op #c k * Key is not valid",
    "op MODE #c +o guest",
    "op MODE #c +b x!*@*",
    "op MODE #c -b x!*@*",
  ]);
  const seen = await guest.sync();
  assert.deepEqual(seen, ["op MODE #c +o guest", "op MODE #c +b x!*@*", "op MODE #c -b x!*@*"]);
});

Deno.test("KICK removes a member, and only operators may use it", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  for (const client of [op, guest]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await op.sync();
  guest.send("KICK #c op", "KICK #d op");
  assert.deepEqual(await guest.sync(), [
    "482 guest #c You are not a channel operator",
    "403 guest #d No such channel",
  ]);
  op.send("KICK #c nobody,guest :enough", "PRIVMSG #c :alone");
  assert.deepEqual(await op.sync(), [
    "441 op nobody #c They are not on that channel",
    "op KICK #c guest enough",
  ]);
  assert.deepEqual(await guest.sync(), ["op KICK #c guest enough"]);
});

Deno.test("TOPIC is announced and kept, and obeys mode t", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  op.send("JOIN #c", "TOPIC #c :first");
  await op.sync();
  guest.send("TOPIC #c :no", "JOIN #c", "TOPIC #c :no", "TOPIC #c");
  const lines = await guest.sync();
  assert.equal(lines[0], "442 guest #c You are not on that channel");
  assert.equal(lines[2], "332 guest #c first");
  assert.match(lines[3] ?? "", /^333 guest #c op!~op@\S+ \d+$/);
  assert.equal(lines[6], "482 guest #c You are not a channel operator");
  op.send("MODE #c -t");
  await op.sync();
  guest.send("TOPIC #c :", "TOPIC #c");
  assert.deepEqual((await guest.sync()).slice(1), [
    "guest TOPIC #c",
    "331 guest #c No topic is set",
  ]);
});

Deno.test("a secret channel is hidden from those outside", async () => {
  await using server = startServer();
  const op = await server.client("op");
  op.send("JOIN #hidden", "MODE #hidden +s", "NAMES #hidden");
  assert.ok((await op.sync()).includes("353 op @ #hidden @op"));
  const guest = await server.client("guest");
  guest.send("LIST", "NAMES #hidden", "WHO #hidden", "WHOIS op", "TOPIC #hidden", "MODE #hidden");
  assert.ok(!(await guest.sync()).some((line) => /^(322|353|352|319|324)/.test(line)));
});

Deno.test("LIST takes masks and conditions", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  op.send("JOIN #one,#two");
  await op.sync();
  guest.send("JOIN #two");
  await guest.sync();
  async function listed(conditions: string): Promise<string[]> {
    guest.send(`LIST ${conditions}`);
    const lines = await guest.sync();
    return lines.filter((line) => line.startsWith("322")).map((line) => line.split(" ")[2] ?? "");
  }
  assert.deepEqual(await listed(""), ["#one", "#two"]);
  assert.deepEqual(await listed("*w*,#x"), ["#two"]);
  assert.deepEqual(await listed("!*w*"), ["#one"]);
  assert.deepEqual(await listed(">1"), ["#two"]);
  assert.deepEqual(await listed("<2,C<5"), ["#one"]);
  assert.deepEqual(await listed("T<5"), []);
});

Deno.test("accounts decide the status at JOIN, and the first account is the founder", async () => {
  const accounts = new TestAccounts({ ann: "a", ben: "b", cid: "c" });
  accounts.setStatus("ben", "voice");
  await using server = startServer({ accounts });
  await server.internal("service", { account: "service", privileged: true }).then((service) => {
    service.send("JOIN #c");
    return service.sync();
  });
  const ann = await server.member("ann", "a", "multi-prefix");
  const ben = await server.member("ben", "b");
  const cid = await server.member("cid", "c");
  for (const client of [ann, ben, cid]) {
    client.send("JOIN #c");
    await client.sync();
  }
  ann.send("NAMES #c", "PART #c", "JOIN #c");
  const lines = await ann.sync();
  assert.ok(lines.includes("353 ann = #c @service @ann +ben cid"));
  assert.ok(lines.includes("MODE #c +o ann"));
});

Deno.test("invite-notify tells operators of invitations", async () => {
  await using server = startServer();
  const op = await server.client("op", "invite-notify");
  const member = await server.client("member");
  const guest = await server.client("guest");
  for (const client of [op, member]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await op.sync();
  member.send("INVITE guest #c", "INVITE op #c", "INVITE nobody #c", "INVITE guest #nowhere");
  assert.deepEqual(await member.sync(), [
    "341 member guest #c",
    "443 member op #c is already on channel",
    "401 member nobody No such nick",
    "403 member #nowhere No such channel",
  ]);
  assert.deepEqual(await guest.sync(), ["member INVITE guest #c"]);
  assert.deepEqual(await op.sync(), ["member INVITE guest #c"]);
});
