import assert from "node:assert/strict";
import type { IrcObserver } from "../../../../services/engines/irc/mod.ts";
import { until } from "../../../support/until.ts";
import {
  agentCaller,
  IrcUser,
  OPERATOR_CALLER,
  type Way,
  withBridge,
  type World,
} from "./support.ts";

/** What IRC users see of everything, and what observers and readers are told. */
interface Transcript {
  readonly bob: readonly string[];
  readonly carol: readonly string[];
  readonly observed: readonly string[];
  readonly read: readonly string[];
  readonly errors: readonly string[];
  readonly clients: unknown;
}

const EVERY_CAPABILITY = [
  "message-tags server-time account-tag echo-message batch labeled-response multi-prefix",
  "extended-join userhost-in-names away-notify account-notify chghost setname invite-notify",
  "draft/chathistory draft/event-playback draft/message-redaction draft/multiline",
].join(" ");

/** The same with each id replaced by its place among the ids: servers begin them at random. */
function withoutChance(transcript: Transcript): unknown {
  const places = new Map<string, number>();
  const text = JSON.stringify(transcript).replaceAll(/\b[0-9a-z]{9,14}-[0-9a-z]+\b/g, (id) => {
    const place = places.get(id) ?? places.size;
    places.set(id, place);
    return `id ${place}`;
  });
  return JSON.parse(text);
}

async function play(way: Way): Promise<Transcript> {
  const observed: string[] = [];
  const note = (kind: string) => (event: unknown) => {
    observed.push(`${kind} ${JSON.stringify(event)}`);
  };
  const observer: IrcObserver = {
    sessionStarted: note("started"),
    sessionEnded: note("ended"),
    messageSent: note("sent"),
    messageRedacted: note("redacted"),
    accessChanged: note("access"),
  };
  const read: string[] = [];
  const heard = (message: unknown) => read.push(JSON.stringify(message));
  const errors: string[] = [];
  let transcript: Omit<Transcript, "bob" | "carol"> | null = null;
  let users: IrcUser[] = [];
  await withBridge(async (world) => {
    users = await converse(world, heard, errors);
    const clients = world.server.clients();
    transcript = { observed, read, errors, clients };
  }, {
    way,
    server: { observer },
    bridge: {
      channels: ["general", "kept"],
      onHeard: (message) => heard({ ...message, heard: true }),
      onPosted: (channel, message) => heard({ channel, message }),
      onRedacted: (id) => heard({ redacted: id }),
    },
  });
  const [bob = [], carol = []] = users.map(({ lines }) => lines);
  assert.ok(transcript !== null);
  return { ...transcript as Omit<Transcript, "bob" | "carol">, bob, carol };
}

async function converse(
  { bridge, server, scheduler }: World,
  heard: (message: unknown) => void,
  errors: string[],
): Promise<IrcUser[]> {
  const failing = (work: Promise<unknown>) =>
    work.then(() => errors.push("none"), (error) => errors.push(String(error)));
  await bridge.whenReady();
  const bob = new IrcUser(server, "bob", { capabilities: EVERY_CAPABILITY });
  const carol = new IrcUser(server, "carol");
  for (const user of [bob, carol]) await user.join("#general");
  await bridge.follow("general", {}, { message: heard, end: heard });
  bob.send("WHOIS bridge", "WHO #general", "WHO bridge %tcuhsnfdlaor,7", "NAMES #general");
  bob.send("LIST", "LUSERS", "MODE bridge", "MODE #general", "ISON bridge", "MONITOR + bridge");
  bob.send(...SAID, "PRIVMSG bridge :to it alone", "@label=x PRIVMSG bridge,#general :both");
  bob.send("BATCH +1 draft/multiline #general", "@batch=1 PRIVMSG #general :first");
  bob.send("@batch=1 PRIVMSG #general :", "@batch=1 PRIVMSG #general :third", "BATCH -1");
  await bob.sync();
  scheduler.advance(1);
  await bridge.post(
    "general",
    { nick: "alice", text: `one\n\ntwo ${"ö ".repeat(5000)}` },
    OPERATOR_CALLER,
  );
  await bridge.post("general", { text: "@not=a tag :nor this" }, agentCaller("worker"));
  await bridge.post("general", { text: " \x02bold\x02  and  spaces \ttoo " }, OPERATOR_CALLER);
  await Promise.all(["1", "2", "3"].map((text) => bridge.post("new", { text }, OPERATOR_CALLER)));
  await failing(bridge.tell("nobody", composition("hello")));
  bob.send("AWAY :not here");
  await bob.sync();
  await failing(bridge.tell("bob", composition("hello")));
  bob.send("INVITE bridge #new2", "JOIN #new2", "INVITE bridge #new2", "TOPIC #new2 :the topic");
  bob.send("KICK #general bridge", "MODE #general +m", "MODE #new2 +m", "PART #new2 :bye");
  await bob.sync();
  await failing(bridge.post("new2", { text: "where nobody may speak" }, OPERATOR_CALLER));
  heard(bridge.summaries());
  heard(await bridge.users("general"));
  const [first] = await bridge.messages("general", {});
  bob.send(`REDACT #general ${first?.id} :gone`, "NICK bobby", "CHATHISTORY LATEST #general * 50");
  await bob.sync();
  heard(await bridge.messages("general", { since: "1999-01-01T00:00:00Z" }));
  await bridge.part("new");
  heard(bridge.channels());
  carol.send("QUIT :over");
  await until(() => !carol.connected);
  heard(await bridge.users("general"));
  heard(server.stats().registered);
  return [bob, carol];
}

const SAID = [
  "PRIVMSG #general :plain",
  "PRIVMSG #general word",
  "PRIVMSG #general :  spaces  ",
  "PRIVMSG #general ::colon",
  "PRIVMSG #general :\u2028 other \u00a0 spaces \u3000",
  "NOTICE #general :a notice",
  "NOTICE #general :\x01ACTION notices\x01",
  "PRIVMSG #general :\x01ACTION waves  twice\x01",
  "PRIVMSG #general :\x01action waves\x01",
  "PRIVMSG #general :\x01ACTION waves without an end",
  "PRIVMSG #general :\x01VERSION\x01",
  "PRIVMSG #general :\x01VERSION",
  "PRIVMSG #general :\x01",
  "PRIVMSG #general :not \x01ACTION at first\x01",
  "PRIVMSG @#general :for operators",
  "@+muster/nick=mallory;+draft/reply=1;label=7 PRIVMSG #general :[mallory] with tags",
  "@+typing=active TAGMSG #general",
  "RELAYMSG #general else/where :relayed",
];

function composition(text: string) {
  return { speaker: null, account: null, lines: [text], isEnvelope: false };
}

Deno.test("A bridge without lines behaves like one that is an IRC client", async () => {
  const [lines, direct] = [await play("lines"), await play("direct")];
  assert.deepEqual(withoutChance(direct), withoutChance(lines));
  assert.ok(direct.bob.length > 100 && direct.read.length > 30, "enough was said");
});
