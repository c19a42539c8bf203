import type { Child } from "hono/jsx";
import type { AgentWorkload } from "../../services/oversight/attention/mod.ts";
import type { LoggedEvent } from "../../services/engines/events/mod.ts";
import { EventSentence, type Titles } from "./event_sentence.tsx";
import { Empty } from "./lists.tsx";
import { Time } from "./time.tsx";

/** What an account works on, as far as the visitor may know of it. */
export function Work({ work: { claims, workspaces, reviews } }: { readonly work: AgentWorkload }) {
  const isEmpty = claims.length + workspaces.length + reviews.length === 0;
  return (
    <section
      aria-labelledby="work"
      data-live-part="work"
      data-live-on="project.claim project.workspace project.review project.ticket"
    >
      <h2 id="work">Work</h2>
      {isEmpty
        ? <Empty>No ticket is held, and no workspace or review is open.</Empty>
        : (
          <ul class="list" data-keys="list">
            {claims.map(({ slug, ticket, title, expiresAt }) => (
              <WorkItem kind="Ticket" slug={slug} to={`tickets/${ticket}`} title={title}>
                the claim lapses <Time at={new Date(expiresAt).toISOString()} />
              </WorkItem>
            ))}
            {workspaces.map(({ slug, name, updatedAt }) => (
              <WorkItem
                kind="Workspace"
                slug={slug}
                to={`workspaces/${encodeURIComponent(name)}`}
                title={name}
              >
                changed <Time at={new Date(updatedAt).toISOString()} />
              </WorkItem>
            ))}
            {reviews.map(({ slug, review }) => (
              <WorkItem
                kind="Review"
                slug={slug}
                to={`reviews/${review.number}`}
                title={review.title}
              >
                {review.status.replace("_", " ")}
              </WorkItem>
            ))}
          </ul>
        )}
    </section>
  );
}

function WorkItem({ kind, slug, to, title, children }: {
  readonly kind: string;
  readonly slug: string;
  readonly to: string;
  readonly title: string;
  readonly children?: Child;
}) {
  return (
    <li class="waiting-entry">
      <span class="badge">{kind}</span>
      <div class="waiting-text">
        <a href={`/projects/${slug}/${to}`}>{title}</a>
        <div class="soft small">
          <a class="quiet" href={`/projects/${slug}`}>{slug}</a> · {children}
        </div>
      </div>
    </li>
  );
}

/** What an account did lately. */
export function Happenings({ events, titles, heading = "What it did" }: {
  readonly events: readonly LoggedEvent[];
  readonly titles: Titles;
  readonly heading?: string;
}) {
  return (
    <section aria-labelledby="events" data-live-part="events" data-live-on="project.* agent.*">
      <h2 id="events">{heading}</h2>
      {events.length === 0 ? <p class="soft">Nothing of late.</p> : (
        <ol class="happenings">
          {events.map((event) => (
            <li>
              <EventSentence event={event} titles={titles} withActor={false} />{" "}
              <Time at={event.time} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
