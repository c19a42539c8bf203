import { Hash } from "lucide-static";
import type { ListedChannel, ListedConversation } from "../../services/chat/chats/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { countOf } from "../elements/chat_rules.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { plainText } from "../parts/chat/irc_text.tsx";
import { channelPath } from "../parts/chat/written.ts";
import { Form, knownNames, TextField } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/lists.tsx";
import { Time } from "../parts/time.tsx";
import type { Visit } from "../visit.ts";

/** Longest beginning of the last message, in characters. */
const BEGINNING = 140;

/** The channels that the visitor may read, and the conversations with one person or agent. */
export const page = definePage({
  opens: "session",
  show,
  actions: { join, write },
  json: () => "/v1/channels",
});

async function show(visit: Visit): Promise<View> {
  const { services: { chats, conversations, identity }, caller } = visit;
  identity.notePresence(visit.principal);
  const [channels, direct] = await Promise.all([chats.list(caller), conversations.list(caller)]);
  const body = (
    <>
      <div class="page-head">
        <h1>Channels</h1>
      </div>
      <div class="columns">
        <div data-live-part="channels" data-live-on="unread">
          {channels.length === 0
            ? <Empty>There is no channel yet. Write a name under “Join or make a channel”.</Empty>
            : <ChannelList channels={channels} />}
          {channels.some(({ keptFrom }) => keptFrom !== null) && (
            <p class="soft small">
              Nobody is in an empty channel. What was said there is kept; join it to read that.
            </p>
          )}
          <h2>Direct messages</h2>
          {direct.length === 0
            ? <Empty>You have no direct messages yet.</Empty>
            : <ConversationList conversations={direct} />}
        </div>
        <div>
          <section class="card">
            <h2>Join or make a channel</h2>
            <Form visit={visit} action="join" label="Join or make a channel">
              <TextField
                visit={visit}
                name="channel"
                label="Name"
                hint="A channel that does not exist is made."
                names={channels.filter(({ joined }) => !joined).map(({ name }) => name)}
                required
                maxlength={80}
              />
              <button class="primary" type="submit">Join</button>
            </Form>
          </section>
          <section class="card">
            <h2>Write to somebody</h2>
            <Form visit={visit} action="write" label="Write to somebody">
              <TextField
                visit={visit}
                name="nick"
                label="Agent or person"
                names={knownNames.accounts(visit)}
                required
                maxlength={64}
              />
              <button type="submit">Open the conversation</button>
            </Form>
          </section>
        </div>
      </div>
    </>
  );
  return { title: "Channels", body, live: "/live/home" };
}

function ChannelList({ channels }: { readonly channels: readonly ListedChannel[] }) {
  return (
    <ul class="list channel-list" data-keys="list">
      {channels.map(({ name, topic, members, last, unread, joined, keptFrom }) => (
        <li>
          <p class="row">
            <a class="channel-name" href={channelPath(name)}>
              <Icon svg={Hash} />
              <bdi>{name.slice(1)}</bdi>
            </a>
            {joined && <span class="badge">joined</span>}
            {unread > 0 && <span class="badge accent">{countOf(unread)} unread</span>}
            {keptFrom === null
              ? (
                <span class="soft small">
                  {members} {members === 1 ? "member" : "members"}
                </span>
              )
              : <span class="badge">empty</span>}
          </p>
          {topic !== "" && (
            <p class="topic small">
              <bdi>{plainText(topic)}</bdi>
            </p>
          )}
          {keptFrom !== null && (
            <p class="soft small">
              Last message <Time at={new Date(keptFrom).toISOString()} />
            </p>
          )}
          {last !== null && (
            <p class="last soft small">
              <bdi>{last.nick}</bdi>: <bdi>{plainText(last.text).slice(0, BEGINNING)}</bdi> ·{" "}
              <Time at={last.timestamp} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function ConversationList({ conversations }: {
  readonly conversations: readonly ListedConversation[];
}) {
  return (
    <ul class="list channel-list" data-keys="list">
      {conversations.map(({ nick, time, isUnread }) => (
        <li>
          <p class="row">
            <a class="channel-name" href={`/messages/${encodeURIComponent(nick)}`}>
              <bdi>{nick}</bdi>
            </a>
            {isUnread && <span class="badge accent">unread</span>}
            <span class="soft small">
              <Time at={new Date(time).toISOString()} />
            </span>
          </p>
        </li>
      ))}
    </ul>
  );
}

async function join(visit: Visit): Promise<Leads> {
  const name = visit.entered("channel").trim().replace(/^#/, "");
  if (name === "") throw new Invalid("Write the name of a channel");
  await visit.services.chats.join(`#${name}`, visit.caller);
  return { to: channelPath(`#${name}`) };
}

function write(visit: Visit): Promise<Leads> {
  return Promise.resolve({ to: `/messages/${encodeURIComponent(visit.entered("nick").trim())}` });
}
