import assert from "node:assert/strict";
import fc from "fast-check";
import { call } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { anyCharacter } from "../support/any_character.ts";

/** What a regular expression, `trim` or a reader of lines may take for more than text. */
const TREACHEROUS = [
  ..."\u2028\u2029\u00a0\u3000\u0085\ufeff\u200b\u1680\u180e\u202f\u205f\v\f\t\x1c\x1d\x1e\x1f",
  ..."\x01\x02\x03\x0f\x7f\x9f @:;\\,!*#&%'\"`[]{}|\u{e000}\u{1f600}\u{10ffff}\ufffe\u0130\u212a",
];

/** No limit on what one client says: this is about what it says, not how fast. */
const CONFIG = `
irc:
  limits: { flood_lines_per_second: 0, connects_per_minute: 0 }
bridge: { buffer_size: 1000 }
`;

const CTCP = "\x01";
const ACTION = `${CTCP}ACTION `;

/** Any text that a line of IRC can carry. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...TREACHEROUS),
    fc.constantFrom(..."abcXYZ019 "),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 })
      .filter((character) => !/[\\0\\r\\n]/.test(character) && character.isWellFormed()),
  ),
  minLength: 1,
  maxLength: 40,
}).filter((text) => !/[\0\r\n]/.test(text));

interface Said {
  readonly id: string;
  readonly nick: string;
  readonly text: string;
}

async function overHttp(program: Program, channel: string, query = ""): Promise<Said[]> {
  const response = await call(program, "GET", `/v1/channels/${channel}/messages${query}`);
  assert.equal(response.status, 200);
  return await response.json();
}

async function overMcp(program: Program, name: string, input: unknown) {
  const response = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${program.token}` },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: input },
    }),
  });
  const { result } = await response.json();
  assert.equal(result.isError, false, JSON.stringify(result));
  return result;
}

/** The text that a client shows for a line with a message; null if it shows nothing. */
function shownOf(line: string): string | null {
  const [, nick, text = ""] = /^:([^! ]*)\S* (?:PRIVMSG|NOTICE) \S+ :?([^]*)$/.exec(line) ?? [];
  if (nick === undefined) return null;
  if (!text.startsWith(CTCP)) return `${nick} ${text}`;
  if (line.includes(" NOTICE ") || !text.startsWith(ACTION)) return null;
  const end = text.endsWith(CTCP) ? -1 : undefined;
  return `${nick} * ${nick} ${text.slice(ACTION.length, end)}`;
}

/** Resolves when the server has done what a client sent, and the client has what came of it. */
async function sync(client: IrcClient): Promise<void> {
  await client.send("PING :sync");
  await client.expect(/^\S+ PONG \S+ :?sync$/);
}

async function enter(program: Program, nick: string, channel: string): Promise<IrcClient> {
  const client = await IrcClient.connect(program.irc);
  await client.register({ nick });
  await client.join(channel);
  return client;
}

Deno.test("readers over HTTP and MCP see every text that a user of IRC sees", async () => {
  await using program = await startProgram({ config: CONFIG });
  await using writer = await enter(program, "writer", "#general");
  await using watcher = await enter(program, "watcher", "#general");
  const word = fc.constantFrom("PRIVMSG", "NOTICE");
  const prefix = fc.constantFrom("", "", "", ACTION, '{"v":1}');
  const message = fc.tuple(word, prefix, anyText);
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 40 }), async (messages) => {
      const [last] = (await overHttp(program, "general")).slice(-1);
      const since = last === undefined ? {} : { since: last.id };
      const from = watcher.lines.length;
      await writer.send(
        ...messages.map(([word, prefix, text]) => `${word} #general :${prefix}${text}`),
      );
      await sync(writer);
      await sync(watcher);
      const seen = watcher.lines.slice(from).map(shownOf).filter((shown) => shown !== null);
      const query = last === undefined ? "" : `?since=${last.id}`;
      const read = await overHttp(program, "general", query);
      assert.deepEqual(read.map(({ nick, text }) => `${nick} ${text}`), seen);
      const result = await overMcp(program, "get_history", {
        channel: "general",
        limit: 1000,
        ...since,
      });
      const told: Said[] = JSON.parse(result.content[1].text).messages;
      assert.deepEqual(told.map(({ nick, text }) => `${nick} ${text}`), seen);
    }),
    { numRuns: 30 },
  );
});

Deno.test("a user of IRC sees every text posted over HTTP or MCP", async () => {
  await using program = await startProgram({ config: CONFIG });
  await using watcher = await enter(program, "watcher", "#general");
  const plain = anyText.map((text) => text.replace(/\p{Cc}/gu, "")).filter((text) =>
    text.replaceAll(" ", "") !== ""
  );
  await fc.assert(
    fc.asyncProperty(plain, anyText, async (text, payload) => {
      const path = "/v1/channels/general/messages";
      const response = await call(program, "POST", path, { nick: "poster", text });
      assert.equal(response.status, 204, await response.text());
      await overMcp(program, "send_message", {
        channel: "general",
        type: "x",
        payload: { payload },
      });
      await watcher.expect(/ PRIVMSG #general :\[poster\] /);
      const line = watcher.lines.findLast((line) => line.includes("[poster] ")) ?? "";
      assert.equal(line.slice(line.indexOf("[poster] ") + "[poster] ".length), text);
      const envelope = await watcher.expect(/ PRIVMSG #general :\{/);
      assert.equal(JSON.parse(envelope.slice(envelope.indexOf("{"))).payload.payload, payload);
      const [posted] = (await overHttp(program, "general", "?limit=2")).slice(-2);
      assert.deepEqual([posted?.nick, posted?.text], ["poster", text]);
    }),
    { numRuns: 60 },
  );
});

Deno.test("a user that leaves with any reason leaves for HTTP readers too, and topics are equal", async () => {
  await using program = await startProgram({ config: CONFIG });
  await using owner = await IrcClient.connect(program.irc);
  await owner.register({
    nick: "owner",
    capabilities: ["draft/message-redaction", "message-tags"],
  });
  await owner.join("#room");
  const users = async () => {
    await sync(owner);
    return await (await call(program, "GET", "/v1/channels/room/users")).json();
  };
  await call(program, "POST", "/v1/channels/room/join");
  for (const character of TREACHEROUS) {
    const reason = `${character}a${character} b${character}`;
    for (const way of ["PART", "QUIT", "KICK"] as const) {
      await using guest = await IrcClient.connect(program.irc);
      await guest.send("NICK guest", `USER guest 0 * :${reason}`);
      await guest.expect(/ (376|422) /);
      await guest.join("#room");
      assert.deepEqual(await users(), ["bridge", "guest", "owner"], JSON.stringify(reason));
      if (way === "PART") await guest.send(`PART #room :${reason}`);
      else if (way === "QUIT") await guest.send(`QUIT :${reason}`);
      else await owner.send(`KICK #room guest :${reason}`);
      if (way === "QUIT") await guest.ended();
      else await guest.expect(new RegExp(` ${way} #room`));
      assert.deepEqual(await users(), ["bridge", "owner"], `${way} ${JSON.stringify(reason)}`);
    }
    await owner.send(`TOPIC #room :${reason}`, "PRIVMSG #room :hello");
    await sync(owner);
    const { content: [{ text }] } = await overMcp(program, "list_channels", {});
    assert.ok(text.includes(`#room (2 members) — ${reason}`), text);
    const [said] = (await overHttp(program, "room", "?limit=1")).slice(-1);
    assert.ok(said !== undefined);
    await owner.send(`REDACT #room ${said.id} :${reason}`);
    await sync(owner);
    assert.deepEqual(await overHttp(program, "room"), [], `REDACT ${JSON.stringify(reason)}`);
  }
});
