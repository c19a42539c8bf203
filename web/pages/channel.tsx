import { speakerOf } from "../parts/chat/robots.ts";
import { ArrowUp } from "lucide-static";
import type { FoundMessages } from "../../services/chat/bridge/mod.ts";
import type { ChannelPart } from "../../services/chat/chats/mod.ts";
import { foldCase } from "../../services/engines/irc/mod.ts";
import { Invalid, NotFound } from "../../services/kernel/errors.ts";
import { accessOf, viewOf } from "../../services/work/projects/mod.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { ChannelHead } from "../parts/chat/channel_head.tsx";
import { Composer } from "../parts/chat/composer.tsx";
import { Here } from "../parts/chat/here.tsx";
import { MessageList, Newer, ToNewest, ToUnread } from "../parts/chat/message_list.tsx";
import { channelPath, takeWritten } from "../parts/chat/written.ts";
import { ButtonForm } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/lists.tsx";
import { type Visit, withQuery } from "../visit.ts";

/** A channel: what is said, who is here, and where to write. */
export const page = definePage({
  opens: "session",
  show,
  actions: { say, read, join, leave },
  newWork: ["say"],
  keeps: ["say"],
  json: (visit) => `/v1/channels/${encodeURIComponent(visit.param("name"))}/messages`,
});

/** The channel of the address, with its `#`. */
function channelOf(visit: Visit): string {
  return `#${visit.param("name")}`;
}

/**
 * Leads to the ticket that somebody named by its number, in the project of the channel.
 *
 * @throws NotFound
 */
async function toTicket(visit: Visit, channel: string, number: string): Promise<Response> {
  const { services: { hosting: { projects, tickets } }, principal } = visit;
  for (const held of projects.all()) {
    const { channel: own, slug } = viewOf(held);
    if (foldCase(own) !== foldCase(channel) || !accessOf(held, principal).may("read")) continue;
    const named = await tickets.numbers.named(held.project, [number]);
    const uuid = named.get(number);
    if (uuid !== undefined) return visit.context.redirect(`/projects/${slug}/tickets/${uuid}`, 303);
  }
  throw new NotFound(`No project of ${channel} has a ticket #${number} that you may read`);
}

async function show(visit: Visit): Promise<View | Response> {
  const { services: { chats, identity }, caller } = visit;
  const channel = channelOf(visit);
  const ticket = visit.query("ticket");
  if (ticket !== undefined) return await toTicket(visit, channel, ticket);
  identity.notePresence(visit.principal);
  const words = visit.query("q")?.slice(0, 200);
  const [before, at] = [visit.query("before"), visit.query("at")];
  const after = visit.query("after") ?? startOfDay(visit.query("day"));
  const now = new Date(visit.services.scheduler.now()).toISOString();
  const [part, found] = await Promise.all([
    words === undefined ? chats.part(channel, { before, after, at }, caller) : null,
    words === undefined ? null : chats.search(channel, words, before, caller),
  ]);
  // The bridge may have entered the channel only now.
  const here = await chats.here(channel, caller);
  const isLive = part !== null && !part.hasNewer;
  const answered = part?.messages.find(({ id }) => id === visit.query("reply"));
  const last = part?.messages.at(-1)?.timestamp ?? now;
  const isEmpty = chats.isEmpty(channel, caller);
  const body = (
    <div
      class="chat"
      data-chat
      data-own={visit.principal.name}
      data-channel={channel}
      data-past={isLive ? undefined : ""}
      data-empty={isEmpty ? "" : undefined}
    >
      <ChannelHead visit={visit} channel={channel} isIn={chats.isIn(channel, caller)} />
      <div class="chat-body">
        <Here visit={visit} present={here} />
        <div class="chat-log" tabindex={0} role="region" aria-label={`Messages of ${channel}`}>
          <div class="chat-content">
            {part !== null && <Part visit={visit} channel={channel} part={part} />}
            {found !== null && <Found visit={visit} found={found} words={words ?? ""} />}
          </div>
        </div>
        <ToUnread />
        {found === null && <ToNewest path={channelPath(channel)} isPast={!isLive} />}
      </div>
      <p class="chat-state" role="status" hidden></p>
      <Composer visit={visit} to={channel} answered={answered} />
    </div>
  );
  const view = { title: channel, body, fills: true };
  if (!isLive || isEmpty) return { ...view, live: "/live/home" };
  const live = withQuery(`/live${channelPath(channel)}`, { after: last });
  return { ...view, live };
}

function Part({ visit, channel, part }: {
  readonly visit: Visit;
  readonly channel: string;
  readonly part: ChannelPart;
}) {
  const { services: { chats }, caller, url: { pathname } } = visit;
  const { messages, hasOlder, hasNewer } = part;
  const readUpTo = chats.readUpTo(caller, channel);
  const [oldest, newest] = [messages[0]?.timestamp, messages.at(-1)?.timestamp];
  return (
    <>
      {hasOlder && oldest !== undefined && (
        <a class="older" href={withQuery(pathname, { before: oldest })} rel="prev">
          <Icon svg={ArrowUp} /> Older messages
        </a>
      )}
      {messages.length === 0 && (
        <Empty>
          {chats.isEmpty(channel, caller)
            ? "Nobody is in this channel. Join it to read what was said here and is kept."
            : "Nobody has said anything here yet."}
        </Empty>
      )}
      <MessageList
        messages={messages}
        own={visit.principal.name}
        speakerOf={(nick) => speakerOf(visit.services, nick)}
        readUpTo={hasNewer ? null : readUpTo}
        label={`Messages of ${channel}`}
        hasTickets
      />
      {hasNewer && newest !== undefined && <Newer href={withQuery(pathname, { after: newest })} />}
      {!hasNewer && newest !== undefined && readUpTo !== null && Date.parse(newest) > readUpTo && (
        <noscript>
          <ButtonForm
            visit={visit}
            action="read"
            to={pathname}
            values={{ upto: newest }}
            label="Mark all as read"
          />
        </noscript>
      )}
    </>
  );
}

function Found({ visit, found, words }: {
  readonly visit: Visit;
  readonly found: FoundMessages;
  readonly words: string;
}) {
  const { pathname } = visit.url;
  const { messages, searchedTo } = found;
  return (
    <>
      <MessageList
        messages={messages.toReversed()}
        own={visit.principal.name}
        speakerOf={(nick) => speakerOf(visit.services, nick)}
        readUpTo={null}
        label={`Messages with ${words}`}
        hasTickets
      />
      <p class="row found">
        <strong>{countFound(messages.length, searchedTo !== null)}</strong>
        {searchedTo !== null && (
          <>
            <span class="soft">
              Searched back to {searchedTo.slice(0, 16).replace("T", " ")} UTC
            </span>
            <a class="button older" href={withQuery(pathname, { q: words, before: searchedTo })}>
              <Icon svg={ArrowUp} /> Search older messages
            </a>
          </>
        )}
        <a href={pathname}>Back to the channel</a>
      </p>
    </>
  );
}

/** @param hasMore whether there are older messages that were not searched */
function countFound(count: number, hasMore: boolean): string {
  if (count === 0) return hasMore ? "Nothing found yet" : "Nothing found";
  return hasMore ? `${count} shown, there may be older ones` : `${count} found`;
}

/** The beginning of a day, such as `2026-11-22`, in UTC; undefined if it is none. */
function startOfDay(day: string | undefined): string | undefined {
  const time = day === undefined ? NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function say(visit: Visit): Promise<Leads | Response> {
  const channel = channelOf(visit);
  return takeWritten(visit, {
    path: channelPath(channel),
    channel,
    isFollowed: true,
    say: (post) => visit.services.chats.say(channel, post, visit.caller),
  });
}

async function read(visit: Visit): Promise<Leads | Response> {
  const time = Date.parse(visit.entered("upto"));
  if (Number.isNaN(time)) throw new Invalid("The time of the message is missing");
  await visit.services.chats.markRead(channelOf(visit), time, visit.caller);
  if (visit.isScripted) return visit.context.body(null, 204);
  return { to: channelPath(channelOf(visit)) };
}

async function join(visit: Visit): Promise<Leads> {
  await visit.services.chats.join(channelOf(visit), visit.caller);
  return { to: channelPath(channelOf(visit)) };
}

async function leave(visit: Visit): Promise<Leads> {
  await visit.services.chats.leave(channelOf(visit), visit.caller);
  return { to: "/channels", notice: `You left ${channelOf(visit)}` };
}
