import fc from "fast-check";
import assert from "node:assert/strict";
import { entryOf, recordOf } from "../../../../services/engines/irc/history/record.ts";
import { HistoryKind } from "../../../../services/engines/irc/history/store.ts";
import {
  MessageHead,
  Outbound,
  type OutboundTags,
} from "../../../../services/engines/irc/outbound.ts";
import { jsonString, shortAscii } from "../../../../services/engines/irc/protocol/text.ts";
import { anyCharacter } from "../../../support/any_character.ts";

const AWKWARD = ["", " ", '"', "\\", "\x7f", "\x1f", "\0", "~ []", "é", "\u2028", "\ud800", "😀"];

/** Texts with and without characters that need an escape. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCharacter }),
  fc.array(fc.constantFrom(...AWKWARD)).map((parts) => parts.join("")),
);

Deno.test("jsonString() writes what JSON.stringify writes", () => {
  fc.assert(fc.property(text, (one) => assert.equal(jsonString(one), JSON.stringify(one))));
});

Deno.test("shortAscii() decodes what the runtime decodes, or nothing", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const bytes = fc.oneof(
    fc.uint8Array({ max: 0x7f, maxLength: 600 }),
    fc.uint8Array({ maxLength: 40 }),
  );
  fc.assert(fc.property(bytes, (one) => {
    const isShort = one.length <= 512 && one.every((byte) => byte < 0x80);
    assert.equal(shortAscii(one), isShort ? decoder.decode(one) : null);
  }));
});

Deno.test("the record of a message is the JSON of its parts, and reads back as the message", () => {
  const tags = fc.record({
    account: fc.option(text.filter((one) => one !== "")),
    relayer: text,
    bot: fc.boolean(),
    client: fc.array(fc.tuple(text, text)),
  }, { requiredKeys: [] });
  const lines = fc.array(fc.record({ text, concat: fc.boolean() }));
  const speech = fc.option(fc.oneof(text, lines), { nil: undefined });
  fc.assert(fc.property(tags, speech, fc.boolean(), (some, said, isExtended) => {
    const time = "2026-11-26T12:00:00.000Z";
    const all = { time, milliseconds: Date.parse(time), ...some } as OutboundTags;
    const message = new Outbound({
      head: new MessageHead({ source: "ann!a@host", command: "PRIVMSG", params: ["#c"] }),
      tags: all,
      text: said,
    });
    const extended = isExtended
      ? new Outbound({
        head: new MessageHead({ source: "ann!a@host", command: "JOIN", params: ["#c"] }),
        tags: all,
      })
      : null;
    const entry = {
      id: "",
      time: Date.parse(time),
      kind: HistoryKind.MESSAGE,
      message,
      extended,
    };
    const record = recordOf(entry);
    const { account, relayer, bot, client } = all;
    const long = JSON.stringify({
      head: message.head,
      text: message.text,
      account: account || undefined,
      relayer,
      bot: bot || undefined,
      client,
      extended: extended === null ? undefined : { head: extended.head, text: extended.text },
    });
    assert.equal(record.content, long);
    assert.deepEqual(recordOf(entryOf(record)), record);
  }));
});
