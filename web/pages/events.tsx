import { Invalid, NotFound } from "../../services/kernel/errors.ts";
import type { EventPage, LoggedEvent } from "../../services/engines/events/mod.ts";
import { definePage, type View } from "../page.ts";
import { EventSentence, type Titles } from "../parts/event_sentence.tsx";
import { wordsOf } from "../parts/form.tsx";
import { Empty } from "../parts/lists.tsx";
import { Time } from "../parts/time.tsx";
import { type Visit, withQuery } from "../visit.ts";

/** Events on one page. */
const PER_PAGE = 50;

/** Groups of types, as links. */
const GROUPS = [
  ["", "All"],
  ["project.*", "Projects"],
  ["agent.*", "Agents"],
  ["account.*,admin.*,access.*", "Accounts"],
  ["token.*,api_token.*", "Tokens"],
  ["irc.*", "IRC"],
  ["llm.*,llm_backend.*", "Models"],
  ["policy.*,webhook.*,program.*,log.*", "Server"],
] as const;

const TYPE = /^(?:\*|[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*(?:\.\*)?)$/;
const NUMBER = /^\d{1,15}$/;

/** The event log: filters in the address, newest first. */
export const page = definePage({ opens: "admin", show, json: () => "/v1/events" });

/** What the address asks for. */
interface Filter {
  /** As entered; "" for all. */
  readonly types: string;
  /** The slug of a project; "" for all. */
  readonly project: string;
  readonly before: number | undefined;
}

async function show(visit: Visit): Promise<View> {
  const { eventLog, attention } = visit.services;
  const filter = filterOf(visit);
  const patterns = filter.types === "" ? undefined : typesOf(filter.types);
  const held = filter.project === "" ? null : visit.services.hosting.projects.find(filter.project);
  if (filter.project !== "" && held === null) {
    throw new NotFound(`There is no project "${filter.project}"`);
  }
  const query = { before: filter.before, types: patterns, limit: PER_PAGE };
  const [log, damage] = await Promise.all([
    eventLog.read(held === null ? query : Object.assign({ project: held.project.id }, query)),
    eventLog.read({ types: ["log.damaged"], limit: 1 }),
  ]);
  const titles = await attention.titlesOf(log.events);
  const events = log.events.toReversed();
  const oldest = events.at(-1)?.seq;
  const hasOlder = events.length === PER_PAGE && oldest !== undefined && oldest > log.oldest;
  const isNewest = filter.before === undefined;
  const body = (
    <>
      <h1>Events</h1>
      <Filters filter={filter} />
      <section
        aria-label="Events"
        {...(isNewest ? { "data-live-part": "log", "data-live-on": liveOn(patterns) } : {})}
      >
        <Chain log={log} damaged={damage.events.at(-1)} newest={eventLog.newest} />
        <EventList events={events} titles={titles} />
      </section>
      <nav class="pager" aria-label="Pages">
        {isNewest ? <span /> : <a href={to(filter, {})} rel="prev">Newest</a>}
        {hasOlder && <a href={to(filter, { before: oldest })} rel="next">Older</a>}
      </nav>
    </>
  );
  return { title: "Events", body, live: "/live/home" };
}

function Filters({ filter }: { readonly filter: Filter }) {
  return (
    <div class="filters">
      <nav aria-label="Kinds of events">
        <ul class="tabs">
          {GROUPS.map(([types, words]) => (
            <li>
              <a
                href={to({ types, project: filter.project, before: undefined }, {})}
                aria-current={types === filter.types ? "page" : undefined}
              >
                {words}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="get" action="/events" role="search" class="row filter-fields">
        <label>
          <span class="small">Types</span>
          <input
            name="types"
            type="search"
            value={filter.types}
            placeholder="agent.*,token.created"
          />
        </label>
        <label>
          <span class="small">Project</span>
          <input name="project" value={filter.project} autocomplete="off" />
        </label>
        <button type="submit">Filter</button>
      </form>
    </div>
  );
}

function EventList({ events, titles }: {
  readonly events: readonly LoggedEvent[];
  readonly titles: Titles;
}) {
  if (events.length === 0) return <Empty>No event fits.</Empty>;
  return (
    <ol class="list log" data-keys="list">
      {events.map((event) => (
        <li>
          <div>
            <span class="mono soft">{event.seq}</span>{" "}
            <EventSentence event={event} titles={titles} /> <Time at={event.time} />
          </div>
          <details>
            <summary class="mono">{event.type}</summary>
            <EventDetails event={event} />
          </details>
        </li>
      ))}
    </ol>
  );
}

/** The state of the chain of hashes. */
function Chain({ log, damaged, newest }: {
  readonly log: EventPage;
  readonly damaged: LoggedEvent | undefined;
  readonly newest: number;
}) {
  const last = log.events.findLast(({ seq }) => seq === newest);
  return (
    <div class={damaged === undefined ? "soft small chain" : "notice bad"}>
      <p>
        {damaged === undefined
          ? `Events ${log.oldest} to ${newest} are in one chain of hashes.`
          : (
            <>
              Another program changed rows of this log (event {damaged.seq},{" "}
              <Time at={damaged.time} />).
            </>
          )} <code>muster doctor log</code> verifies every row.
        {last !== undefined && (
          <>
            {" "}The last hash is <code title={last.hash}>{last.hash.slice(0, 16)}…</code>
          </>
        )}
      </p>
    </div>
  );
}

function EventDetails({ event }: { readonly event: LoggedEvent }) {
  const { time, actor, actor_id, address, cause, data, hash } = event;
  return (
    <dl class="facts">
      <dt>Time</dt>
      <dd class="mono">{time}</dd>
      <dt>Actor</dt>
      <dd class="mono">
        {actor} {actor_id}
      </dd>
      <dt>Address</dt>
      <dd class="mono">{address ?? "none"}</dd>
      <dt>Request</dt>
      <dd class="mono">{cause ?? "none"}</dd>
      <dt>Data</dt>
      <dd>
        <pre tabindex={0}><code>{JSON.stringify(data, null, 2)}</code></pre>
      </dd>
      <dt>Hash</dt>
      <dd class="mono">{hash}</dd>
    </dl>
  );
}

/** @throws Invalid */
function filterOf(visit: Visit): Filter {
  const before = visit.query("before");
  if (before !== undefined && !NUMBER.test(before)) {
    throw new Invalid('"before" must be the number of an event');
  }
  return {
    types: visit.query("types")?.trim() ?? "",
    project: visit.query("project")?.trim() ?? "",
    before: before === undefined ? undefined : Number(before),
  };
}

/** @throws Invalid */
function typesOf(text: string): readonly string[] {
  const types = wordsOf(text);
  if (types.length > 0 && types.length <= 50 && types.every((type) => TYPE.test(type))) {
    return types;
  }
  throw new Invalid('"types" must be types such as agent.registered or agent.*');
}

function liveOn(types: readonly string[] | undefined): string {
  return types?.join(" ") ?? "*";
}

function to({ types, project }: Filter, { before }: { readonly before?: number }): string {
  return withQuery("/events", {
    types: types || undefined,
    project: project || undefined,
    before,
  });
}
