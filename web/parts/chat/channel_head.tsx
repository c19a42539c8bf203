import { Bell, CalendarDays, LogOut, Pencil, Search } from "lucide-static";
import type { Visit } from "../../visit.ts";
import { withQuery } from "../../visit.ts";
import { ButtonForm } from "../form.tsx";
import { Icon } from "../icon.tsx";
import { IrcText, plainText } from "./irc_text.tsx";
import { channelPath } from "./written.ts";

/** A channel's name and topic, and the ways to its messages. */
export function ChannelHead({ visit, channel, isIn }: {
  readonly visit: Visit;
  readonly channel: string;
  readonly isIn: boolean;
}) {
  const topic = visit.services.chats.bridge.topic(channel);
  const path = channelPath(channel);
  const draft = `/topic ${plainText(topic)}`;
  return (
    <header class="chat-head">
      <h1>
        <bdi>{channel}</bdi>
      </h1>
      <p class="topic" data-topic dir="auto" title={plainText(topic) || undefined}>
        {topic === ""
          ? <span class="soft">No topic yet</span>
          : <IrcText text={topic} hasTickets />}
      </p>
      <a
        class="icon-button"
        href={`${withQuery(path, { draft })}#say`}
        aria-label="Change the topic"
        title="Change the topic"
      >
        <Icon svg={Pencil} />
      </a>
      <button
        class="icon-button"
        type="button"
        data-notify
        hidden
        aria-pressed="false"
        aria-label="Notify me of messages that name me"
        title="Notify me of messages that name me"
      >
        <Icon svg={Bell} />
      </button>
      <DayForm path={path} day={visit.query("day") ?? ""} />
      <search>
        <form action={path} class="row">
          <input
            type="search"
            name="q"
            value={visit.query("q")?.slice(0, 200) ?? ""}
            placeholder="Search"
            aria-label={`Search ${channel}; from:name finds a speaker`}
          />
          <button type="submit" aria-label="Search">
            <Icon svg={Search} />
          </button>
        </form>
      </search>
      <div data-membership={isIn ? "in" : "out"}>
        {isIn
          ? <ButtonForm visit={visit} action="leave" to={path} label={LEAVE} />
          : <ButtonForm visit={visit} action="join" to={path} label="Join" look="primary" />}
      </div>
    </header>
  );
}

/** On a phone, the picture alone is shown. */
const LEAVE = (
  <>
    <Icon svg={LogOut} /> <span class="wide">Leave</span>
  </>
);

/** Goes to a day. */
function DayForm({ path, day }: { readonly path: string; readonly day: string }) {
  return (
    <details class="to-day">
      <summary class="icon-button" aria-label="Go to a day" title="Go to a day">
        <Icon svg={CalendarDays} />
      </summary>
      <form action={path} class="row">
        <input type="date" name="day" value={day} required aria-label="Day, in UTC" />
        <button type="submit">Go</button>
      </form>
    </details>
  );
}
