import type { Context } from "hono";
import { type AppEnv, callerOf } from "../../routes/environment.ts";
import { EventFrames, type StreamSink } from "../../routes/event_streams.ts";
import { Unauthorized } from "../../services/kernel/errors.ts";
import type { LoggedEvent } from "../../services/engines/events/mod.ts";
import { noticeOf } from "../../services/work/feeds/mod.ts";
import type { Principal } from "../../services/people/identity/mod.ts";
import { accessOf } from "../../services/work/projects/mod.ts";
import type { Surroundings } from "../visit.ts";
import { answerStream, startOf, visitorOf } from "./request.ts";
import { unreadEvent, type UnreadNews, type UnreadWatch } from "./unread_watch.ts";
import type { Agents } from "../../services/people/agents/mod.ts";
import type { Scheduler } from "../../services/kernel/scheduler.ts";

/** Types of events that a person follows; an admin follows all. */
const OF_PERSONS: readonly string[] = ["project.*", "agent.*", "question.*"];

/** A reader's position in the event log. */
type Position = { more(): void; close(): void };

/** What the stream tells: events of the log, and news without a number. */
type Told = Pick<LoggedEvent, "type"> & { readonly seq: number | null };

/** Agents came or went. */
const PRESENCE: Told = Object.freeze({ seq: null, type: "agent.presence" });

/**
 * The types and numbers of the events of the whole server: all for an admin; for a person, those of
 * the agents and of the projects that it may read.
 */
export class HomeStream {
  readonly #surroundings: Surroundings;
  readonly #frames = new EventFrames<Told | UnreadNews>((item) => {
    if ("kind" in item) return unreadEvent(item);
    const { seq, type } = item;
    return seq === null ? `data: ${type}` : `id: ${seq}\ndata: ${type}`;
  });
  readonly #presence: PresenceWatch;
  readonly #unread: UnreadWatch;

  constructor(surroundings: Surroundings, unread: UnreadWatch) {
    this.#surroundings = surroundings;
    this.#unread = unread;
    const { agents, scheduler } = surroundings.services;
    this.#presence = new PresenceWatch(agents, scheduler);
  }

  /** @throws Unauthorized without a session; Invalid if the start is no event; TooMany */
  async answer(context: Context<AppEnv>): Promise<Response> {
    const { services, streams } = this.#surroundings;
    const principal = visitorOf(context, services);
    if (principal.kind === "guest") throw new Unauthorized("Log in to follow what happens");
    const after = startOf(context);
    const caller = callerOf(context);
    await services.eventLog.reach(after);
    return await answerStream<Told | UnreadNews>(context, streams, {
      frames: this.#frames,
      follow: (sink) => {
        const position = principal.kind === "admin"
          ? services.eventLog.follow({ after }, sink)
          : this.#followAs(principal, after, sink);
        const leave = this.#presence.add(() => sink.message(PRESENCE));
        const forget = this.#unread.add(caller, "", (news) => sink.message(news));
        return {
          more: () => position.more(),
          // The news of agents come unasked, so a reader that falls behind is cut.
          cut: () => true,
          close() {
            leave();
            forget();
            position.close();
          },
        };
      },
    });
  }

  /** Follows the events that a person may know. */
  #followAs(
    principal: Principal,
    after: number | undefined,
    sink: StreamSink<Told | UnreadNews>,
  ): Position {
    // The stream asks for more once it has sent something, so somebody else asks before that.
    let hasSent = false;
    const following = this.#surroundings.services.eventLog.follow({ after, types: OF_PERSONS }, {
      message: (event) => {
        if (this.#mayKnow(principal, event)) {
          hasSent = true;
          sink.message(event);
        } else if (!hasSent) {
          following.more();
        }
      },
      gap: (gap) => sink.gap(gap),
      end: () => sink.end(),
    });
    return {
      close: () => following.close(),
      more() {
        hasSent = false;
        following.more();
      },
    };
  }

  #mayKnow(principal: Principal, event: LoggedEvent): boolean {
    if (event.type.startsWith("question.")) return this.#isAsked(principal, event);
    if (!event.type.startsWith("project.")) return true;
    const notice = noticeOf(event);
    const held = notice === null
      ? null
      : this.#surroundings.services.hosting.projects.get(notice.projectId);
    if (notice === null || held === null) return false;
    return accessOf(held, principal).may(notice.isHidden ? "admin" : "read");
  }

  /** Whether a question is one that a person may answer. */
  #isAsked({ id, name }: Principal, { data: { to, project } }: LoggedEvent): boolean {
    if (to !== null) return to === name;
    const held = this.#surroundings.services.hosting.projects.find(String(project));
    const role = id === null ? undefined : held?.members.get(id);
    return role === "write" || role === "admin";
  }
}

/** How often the agents that are here are compared with those before, in milliseconds. */
const STEP = 3000;

/**
 * Tells readers that agents came or went, which is no event of the log. It looks only while it has
 * readers.
 */
class PresenceWatch {
  readonly #agents: Pick<Agents, "presences">;
  readonly #scheduler: Scheduler;
  readonly #readers = new Set<() => void>();
  #online: ReadonlySet<string> = new Set();
  #cancel: () => void = () => {};

  constructor(agents: Pick<Agents, "presences">, scheduler: Scheduler) {
    this.#agents = agents;
    this.#scheduler = scheduler;
  }

  /**
   * Calls a reader each time that agents came or went.
   *
   * @returns ends it
   */
  add(reader: () => void): () => void {
    this.#readers.add(reader);
    if (this.#readers.size === 1) {
      this.#online = this.#look();
      this.#expect();
    }
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#cancel();
    };
  }

  #expect(): void {
    this.#cancel = this.#scheduler.after(STEP, () => {
      this.#expect();
      const online = this.#look();
      const isSame = online.size === this.#online.size && online.isSubsetOf(this.#online);
      this.#online = online;
      if (isSame) return;
      for (const reader of [...this.#readers]) reader();
    });
  }

  /** The agents that are here. */
  #look(): ReadonlySet<string> {
    return new Set(this.#agents.presences().flatMap(({ id, online }) => online ? [id] : []));
  }
}
