import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import fc from "fast-check";
import type { Transport } from "../../../services/bridge/irc_framework.d.ts";
import { Client } from "../../../services/bridge/irc_framework.ts";
import { plainSpeech } from "../../../services/bridge/plain_lines.ts";

const LINE = "@time=2026-11-26T20:00:00.123Z;msgid=a-1;account=x :nick!user@host PRIVMSG #c :text";

/** Carries what a test says that the server sends. */
class Wire extends EventEmitter implements Transport {
  connect(): void {
    this.emit("open");
  }
  writeLine(): void {}
  isConnected(): boolean {
    return true;
  }
  close(): void {}
  disposeSocket(): void {}
  setEncoding(): boolean {
    return true;
  }
}

/** What irc-framework reports of a line: events of all kinds, except that a line has come. */
function framework(): (line: string) => { readonly kind: string; readonly event: unknown }[] {
  const wires: Wire[] = [];
  const client = new Client({
    nick: "bridge",
    username: "bridge",
    gecos: "bridge",
    auto_reconnect: false,
    enable_echomessage: true,
    ping_interval: 0,
    ping_timeout: 0,
    version: null,
    password: "",
    account: {},
    sasl_disconnect_on_fail: false,
    transport: class extends Wire {
      constructor() {
        super();
        wires.push(this);
      }
    },
  });
  client.connect();
  const [wire] = wires;
  assert.ok(wire !== undefined);
  wire.emit("line", ":server 005 bridge STATUSMSG=@+ CHANTYPES=# :are supported by this server");
  let reported: { kind: string; event: unknown }[] = [];
  for (const kind of ["privmsg", "notice", "action", "invite", "redaction", "motd"] as const) {
    client.on(kind as "privmsg", ({ nick, ident, hostname, target, group, ...event }) => {
      const { message, tags, time, batch } = event;
      const common = { nick, ident, hostname, target, message, tags: { ...tags }, time };
      reported.push({ kind, event: { ...common, group, batch } });
    });
  }
  return (line) => {
    reported = [];
    wire.emit("line", line);
    return reported;
  };
}

/** What is taken must be what irc-framework would report, and nothing besides. */
function assertSame(line: string, byFramework: ReturnType<typeof framework>): void {
  const speech = plainSpeech(line);
  if (speech === null) return;
  const { event: { tags, ...event }, isNotice } = speech;
  const expected = { ...event, tags: { ...tags }, group: undefined, batch: undefined };
  assert.deepEqual(
    byFramework(line),
    [{ kind: isNotice ? "notice" : "privmsg", event: expected }],
    line,
  );
}

Deno.test("plain lines are read as irc-framework reads them", () => {
  const byFramework = framework();
  const odd = fc.constantFrom(
    ...[
      "",
      " ",
      "  ",
      ":",
      "@",
      "!",
      "#",
      ";",
      "=",
      "\\",
      "\x01",
      "\r",
      "\n",
      "\0",
      "\u2028",
      "\t",
    ],
    ...[
      "ACTION ",
      "\x01ACTION x\x01",
      "ö",
      "😀",
      "\ud800",
      "a",
      "nick",
      "host.name",
      "+x/y",
      "time=",
    ],
    ...[
      "batch=1",
      "batch",
      "account=",
      "Time=2026-11-26T20:00:00Z",
      "time=123",
      "__proto__=x",
      "\\s",
    ],
  );
  const text = fc.array(fc.oneof(odd, odd, fc.string())).map((parts) => parts.join(""));
  const rarely = (usual: string) => fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, text);
  const tags = fc.array(
    fc.oneof(fc.constantFrom("time=2026-11-26T20:00:00.5Z", "msgid=1", "Bot", "+a/b=c=d"), text),
  ).map((some) => ["time=2026-11-26T20:00:00.5Z", ...some].join(";"));
  const line = fc.tuple(
    ...[fc.oneof(rarely(""), fc.constant("")), tags, rarely(" :"), rarely("nick"), rarely("!")],
    ...[rarely("user"), rarely("@"), rarely("host"), rarely(" ")],
    ...[fc.constantFrom("PRIVMSG", "NOTICE", "privmsg", "TAGMSG", "JOIN"), rarely(" ")],
    ...[fc.constantFrom("#c", "@#c", "&c", "nick", "#a,#b"), rarely(" :"), text],
  ).map(([start, tags, ...rest]) => [start, "@", tags, ...rest].join(""));
  fc.assert(fc.property(line, (one) => assertSame(one, byFramework)), { numRuns: 5000 });
});

Deno.test("the usual line is plain, and what is more than a text in a channel is not", () => {
  const byFramework = framework();
  const variants = {
    plain: [
      LINE,
      LINE.replace("PRIVMSG", "NOTICE"),
      LINE.replace("text", "  :spaces\u2028 and all "),
      LINE.replace(":nick!user@host", ":nick!@"),
      LINE.replace("@", "@Account=;account=y;=z;;+draft/reply=b;__proto__=c;"),
    ],
    others: [
      LINE.replace("text", "\x01ACTION waves\x01"),
      LINE.replace("text", "\x01VERSION\x01"),
      LINE.replace("text", "\x01"),
      LINE.replace("text", ""),
      LINE.replace(":text", "text"),
      LINE.replace("text", "line end\r"),
      LINE.replace("#c", "@#c"),
      LINE.replace("#c", "bridge"),
      LINE.replace("#c", "#c #d"),
      LINE.replace("nick!user@host", "server.name"),
      LINE.replace("nick!user@host", "nick"),
      LINE.replace("nick!user@host", "a@b!c"),
      LINE.replace("account=x", "batch=1"),
      LINE.replace("account=x", "account=x\\S"),
      LINE.replace("2026-11-26T20:00:00.123Z", "soon"),
      LINE.replace(/^@[^ ]* /, ""),
      LINE.replace("PRIVMSG", "TAGMSG"),
    ],
  };
  for (const line of variants.plain) {
    assert.notEqual(plainSpeech(line), null, line);
    assertSame(line, byFramework);
  }
  for (const line of variants.others) assert.equal(plainSpeech(line), null, line);
});
