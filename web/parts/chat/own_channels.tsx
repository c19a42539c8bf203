import type { Child } from "hono/jsx";
import type { SidebarChannel } from "../../../services/chat/chats/mod.ts";
import { countOf } from "../../elements/chat_rules.ts";
import { addressing } from "./robots.ts";
import type { Visit } from "../../visit.ts";

/**
 * The visitor's channels, with the number of messages that they have not read, and who wrote to
 * them alone. A page that follows a stream keeps the numbers current.
 */
export async function OwnChannels({ visit }: { readonly visit: Visit }) {
  const { services: { chats, conversations }, caller } = visit;
  const places = chats.sidebar(caller, addressing(visit.services));
  const more = chats.beyondSidebar(caller);
  const channels = places.filter(({ joined }) => joined);
  const others = places.filter(({ joined }) => !joined);
  const correspondents = await conversations.unread(caller);
  return (
    <div data-own-places>
      {channels.length > 0 && (
        <Links id="own-channels" heading="Your channels">
          {channels.map((channel) => (
            <OwnChannel key={channel.name} visit={visit} channel={channel} />
          ))}
          {more > 0 && (
            <li>
              <a href="/channels">and {more} more</a>
            </li>
          )}
        </Links>
      )}
      {others.length > 0 && (
        <Links id="other-channels" heading="Named you">
          {others.map((channel) => (
            <OwnChannel key={channel.name} visit={visit} channel={channel} />
          ))}
        </Links>
      )}
      <Links id="own-messages" heading="Written to you" isHidden={correspondents.length === 0}>
        {correspondents.map(({ nick }) => (
          <Place visit={visit} to={`/messages/${encodeURIComponent(nick)}`} name={nick}>
            <span class="badge accent count">unread</span>
          </Place>
        ))}
      </Links>
    </div>
  );
}

function OwnChannel({ visit, channel: { name, unread, mentions } }: {
  readonly visit: Visit;
  readonly channel: SidebarChannel;
}) {
  return (
    <Place visit={visit} to={`/channels/${encodeURIComponent(name.slice(1))}`} name={name}>
      {unread > 0 && (
        <span class={`badge count${mentions > 0 ? " accent" : ""}`}>
          {mentions > 0 ? `@${countOf(mentions)}` : countOf(unread)}
          <span class="hidden-text">{wordsOf(mentions)}</span>
        </span>
      )}
    </Place>
  );
}

function wordsOf(mentions: number): string {
  if (mentions === 0) return " unread";
  return mentions === 1 ? " message names you" : " messages name you";
}

function Links({ id, heading, isHidden = false, children }: {
  readonly id: string;
  readonly heading: string;
  readonly isHidden?: boolean;
  readonly children: Child;
}) {
  return (
    <section aria-labelledby={id} hidden={isHidden}>
      <h2 id={id}>{heading}</h2>
      <ul>{children}</ul>
    </section>
  );
}

function Place({ visit, to, name, children }: {
  readonly visit: Visit;
  readonly to: string;
  readonly name: string;
  readonly children: Child;
}) {
  const isHere = visit.url.pathname.toLowerCase() === to.toLowerCase();
  return (
    <li>
      <a href={to} aria-current={isHere ? "page" : undefined} data-place={name}>
        <bdi class="ellipsis">{name}</bdi>
        {children}
      </a>
    </li>
  );
}
