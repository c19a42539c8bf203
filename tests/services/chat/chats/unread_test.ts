import assert from "node:assert/strict";
import {
  Conversations,
  type ConversationsOptions,
  PrivateFeed,
} from "../../../../services/chat/chats/mod.ts";
import { MentionCounts } from "../../../../services/chat/chats/chats.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

const ANN = { nick: "ann", account: "ann", realname: "Ann" };
const BY_ANN = {
  ...BY_OPERATOR,
  principal: { ...BY_OPERATOR.principal, kind: "person" as const, id: "1", name: "ann" },
};

/** Conversations of ann after a start, with what the history and the read markers hold. */
function afterStart(
  lasts: Readonly<Record<string, { readonly by: string; readonly time: number }>>,
  readUpTo: Readonly<Record<string, number>>,
) {
  const feed = new PrivateFeed();
  let reads = 0;
  const options = {
    feed,
    virtualUsers: { identityOf: () => ANN },
    positions: { readUpTo: (_: string, nick: string) => readUpTo[nick] ?? null },
    view: {
      correspondents() {
        reads++;
        const all = Object.entries(lasts).map(([nick, { time }]) => ({ nick, time }));
        return Promise.resolve(all.sort((one, other) => other.time - one.time));
      },
      conversation(_: unknown, nick: string) {
        const { by = "", time = 0 } = lasts[nick] ?? {};
        return Promise.resolve([{ id: nick, nick: by, account: by, text: "hello", time }]);
      },
    },
  } as unknown as ConversationsOptions;
  return { conversations: new Conversations(options), feed, reads: () => reads };
}

Deno.test("who wrote to somebody is known after a restart, from the history", async () => {
  const { conversations, feed, reads } = afterStart({
    bob: { by: "bob", time: 3000 },
    carl: { by: "ann", time: 4000 },
    dora: { by: "dora", time: 2000 },
    eve: { by: "eve", time: 1000 },
  }, { dora: 2000, eve: 500 });
  const nicks = async () => (await conversations.unread(BY_ANN)).map(({ nick }) => nick);
  assert.deepEqual(await nicks(), ["bob", "eve"]);
  const fred = { nick: "fred", account: "fred" };
  feed.add(fred, ANN, { id: "1", nick: "fred", account: "fred", text: "hi", time: 5000 });
  assert.deepEqual(await nicks(), ["fred", "bob", "eve"]);
  assert.equal(reads(), 1, "the history is read once");
});

Deno.test("MentionCounts looks at each message once, and counts those of others", () => {
  const counts = new MentionCounts();
  const looked: string[] = [];
  const names = (text: string, nick: string) => {
    looked.push(text);
    return text.includes(nick);
  };
  const message = (number: number, nick: string, text: string) => ({
    id: String(number),
    nick,
    account: nick,
    text,
    timestamp: `2026-01-01T00:00:0${number}.000000Z`,
  });
  const messages = [message(1, "bob", "ann!"), message(2, "ann", "ann"), message(3, "bob", "hm")];
  const of = (count: number, readUpTo: number) =>
    counts.of({ account: "ann", channel: "#a", readUpTo }, messages.slice(0, count), names);
  assert.equal(of(1, 0), 1);
  assert.equal(of(3, 0), 1);
  assert.equal(of(3, 0), 1);
  assert.deepEqual(looked, ["ann!", "hm"]);
  assert.equal(of(3, 9), 1, "another marker counts anew");
  assert.equal(counts.of({ account: "ann", channel: "#a", readUpTo: 9 }, [], names), 0);
});
