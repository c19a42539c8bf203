import type { FailedCheck } from "../../../services/oversight/attention/mod.ts";
import type { Correspondent, SidebarChannel } from "../../../services/chat/chats/mod.ts";
import type { LoggedEvent } from "../../../services/engines/events/mod.ts";
import type { Landing } from "../../../services/work/reviews/mod.ts";
import { countOf } from "../../elements/chat_rules.ts";
import { EventSentence, type Titles } from "../event_sentence.tsx";
import { Empty } from "../lists.tsx";
import { Time } from "../time.tsx";

/** Entries of a short list beside the page. */
export const SHOWN = 8;

/** The open landings of all projects. */
export function Landings({ landings }: {
  readonly landings: readonly { readonly slug: string; readonly landing: Landing }[];
}) {
  return (
    <section aria-labelledby="landing" data-live-part="landing" data-live-on="project.landing">
      <h2 id="landing">Landing</h2>
      {landings.length === 0
        ? <p class="soft small">Nothing is queued.</p>
        : (
          <ul class="list compact">
            {landings.slice(0, SHOWN).map(({ slug, landing }) => (
              <li>
                <a href={`/projects/${slug}/landing`}>{landing.title}</a>
                <div class="soft small">
                  {slug} · {landing.status} for {landing.targetBranch}{" "}
                  <Time at={new Date(landing.testingSince ?? landing.queuedAt).toISOString()} />
                </div>
              </li>
            ))}
          </ul>
        )}
      <More count={landings.length - SHOWN} />
    </section>
  );
}

/** A check that failed, and the job that ran it; null if a CI elsewhere reported it. */
export interface ShownCheck extends FailedCheck {
  readonly job: string | null;
}

/** Checks that failed lately. */
export function FailedChecks({ checks, more }: {
  readonly checks: readonly ShownCheck[];
  /** How many more there are. */
  readonly more: number;
}) {
  return (
    <section
      aria-labelledby="checks"
      data-live-part="checks"
      data-live-on="project.status project.checkin"
    >
      <h2 id="checks">Failing checks</h2>
      {checks.length === 0
        ? <p class="soft small">No check of a branch failed within a week.</p>
        : (
          <ul class="list compact">
            {checks.map(({ slug, checkin, context, description, updatedAt, job }) => (
              <li>
                <a
                  href={`/projects/${slug}/${job === null ? `checkin/${checkin}` : `jobs/${job}`}`}
                >
                  {context} <span class="mono">{checkin.slice(0, 10)}</span>
                </a>
                <div class="soft small">
                  {slug}
                  {description !== "" && ` · ${description}`}{" "}
                  <Time at={new Date(updatedAt).toISOString()} />
                </div>
              </li>
            ))}
          </ul>
        )}
      <More count={more} />
    </section>
  );
}

/** A check that failed and passed without a change. */
export interface FlakyCheck {
  readonly slug: string;
  readonly check: string;
  /** How often of late. */
  readonly times: number;
  /** The last job that passed. */
  readonly job: string;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

/** Checks that are flaky; nothing if none is. */
export function FlakyChecks({ checks }: { readonly checks: readonly FlakyCheck[] }) {
  return (
    <section
      aria-labelledby={checks.length === 0 ? undefined : "flaky"}
      data-live-part="flaky"
      data-live-on="project.job"
    >
      {checks.length > 0 && (
        <>
          <h2 id="flaky">Flaky checks</h2>
          <ul class="list compact">
            {checks.slice(0, SHOWN).map(({ slug, check, times, job, endedAt }) => (
              <li>
                <a href={`/projects/${slug}/jobs/${job}`}>{check}</a>
                <div class="soft small">
                  {slug} · failed and passed without a change{" "}
                  {times === 1 ? "once" : `${times} times`} within a week, last{" "}
                  <Time at={new Date(endedAt).toISOString()} />
                </div>
              </li>
            ))}
          </ul>
          <More count={checks.length - SHOWN} />
        </>
      )}
    </section>
  );
}

/** What the visitor has not read: channels with their counts, and private conversations. */
export function Unread({ channels, direct }: {
  readonly channels: readonly SidebarChannel[];
  readonly direct: readonly Correspondent[];
}) {
  const unread = channels.filter((channel) => channel.unread > 0)
    .toSorted((one, other) => other.mentions - one.mentions || other.unread - one.unread);
  return (
    <section aria-labelledby="unread" data-live-part="unread" data-live-on="unread">
      <h2 id="unread">Unread</h2>
      {unread.length + direct.length === 0
        ? (
          <p class="soft small">
            Nothing new in your channels. <a href="/channels">All channels</a>
          </p>
        )
        : (
          <ul class="list compact" data-keys="list">
            {direct.slice(0, SHOWN).map(({ nick, time }) => (
              <li>
                <a href={`/messages/${encodeURIComponent(nick)}`}>{nick}</a>{" "}
                <span class="badge accent">to you</span>
                <div class="soft small">
                  <Time at={new Date(time).toISOString()} />
                </div>
              </li>
            ))}
            {unread.slice(0, SHOWN).map((channel) => (
              <li>
                <a href={`/channels/${encodeURIComponent(channel.name.slice(1))}`}>
                  {channel.name}
                </a>{" "}
                {channel.mentions > 0 && (
                  <span class="badge accent">@{countOf(channel.mentions)}</span>
                )} <span class="badge">{countOf(channel.unread)}</span>
                <span class="hidden-text">unread</span>
              </li>
            ))}
          </ul>
        )}
      <More count={unread.length - SHOWN} />
    </section>
  );
}

/** What happened, newest first. */
export function Happened({ events, titles, isAdmin }: {
  readonly events: readonly LoggedEvent[];
  readonly titles: Titles;
  readonly isAdmin: boolean;
}) {
  return (
    <section
      aria-labelledby="happened"
      data-live-part="happened"
      data-live-on={isAdmin ? "*" : "project.* agent.*"}
    >
      <h2 id="happened">
        What happened {isAdmin && <a class="small" href="/events">all events</a>}
      </h2>
      {events.length === 0 ? <Empty>Nothing has happened yet.</Empty> : (
        <ol class="happenings">
          {events.map((event) => (
            <li>
              <EventSentence event={event} titles={titles} /> <Time at={event.time} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function More({ count }: { readonly count: number }) {
  return count > 0 ? <p class="soft small">and {count} more</p> : null;
}
