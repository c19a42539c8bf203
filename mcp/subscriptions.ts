/**
 * `subscriptions/listen` (MCP 2026-07-28): a stream of what changes of resources and tasks. It reads
 * the feeds of projects and the event log, as all streams of the server do, and has their bounds.
 */
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  EventFrames,
  type EventStreams,
  jsonLine,
  STREAM_HEADERS,
} from "../routes/event_streams.ts";
import type { Followed } from "../routes/event_stream.ts";
import { NotFound } from "../services/kernel/errors.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { Metrics } from "../services/operation/metrics/mod.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import type { Notice } from "../services/work/feeds/mod.ts";
import { accessOf } from "../services/work/projects/mod.ts";
import { RPC_ERROR, rpcError } from "./json_rpc.ts";
import { partsOf } from "./resources.ts";
import type { FollowedTask, Results, Session } from "./results.ts";
import { type StreamMessage, StreamMessages } from "./stream_messages.ts";

/** Most resources, and most tasks, of a subscription. */
const MAX_URIS = 100;
const MAX_TASKS = 20;
/** Most projects whose resources are in a subscription. */
const MAX_PROJECTS = 20;

/** Longest URI that is read, in characters. */
const MAX_URI = 2000;

/** The events after which a resource of a kind may be another. */
const NAMES = { ticket: "ticket", wiki: "wiki", file: "checkin" } as const;

const filterSchema = z.object({
  notifications: z.looseObject({
    resourceSubscriptions: z.array(z.string().max(MAX_URI)).max(MAX_URIS).default([]),
    taskIds: z.array(z.string()).max(MAX_TASKS).default([]),
  }),
});

export interface SubscriptionOptions {
  readonly services: Pick<
    Services,
    "config" | "eventLog" | "hosting" | "identity" | "scheduler" | "draining"
  >;
  readonly metrics: Pick<Metrics, "streamOpened" | "streamClosed">;
}

/** The subscribed resources of a project. */
interface Watched {
  readonly id: string;
  readonly uris: readonly string[];
}

/** The open subscriptions of a server. */
export class Subscriptions {
  readonly #services: SubscriptionOptions["services"];
  readonly #streams: EventStreams;
  readonly #frames = new EventFrames<StreamMessage>((message) =>
    `event: message\ndata: ${jsonLine(message)}`
  );

  constructor(services: SubscriptionOptions["services"], streams: EventStreams) {
    this.#services = services;
    this.#streams = streams;
  }

  /**
   * Opens a subscription: first, it says which of the resources and tasks the caller will hear of.
   *
   * @param session its client follows tasks, if the request names some
   * @throws TooMany
   */
  async listen(
    { id, params }: JSONRPCRequest,
    session: Session,
    results: Pick<Results, "followedTask">,
  ): Promise<Response> {
    const { data, error } = filterSchema.safeParse(params);
    if (data === undefined) {
      const message = `"notifications" is not a filter: ${error.issues[0]?.message ?? ""}`;
      return rpcError(200, RPC_ERROR.invalidParams, message, id);
    }
    const { resourceSubscriptions: uris, taskIds } = data.notifications;
    const { caller } = session.context;
    const watched = this.#watched(uris, caller.principal);
    const tasks = await existing(taskIds, session, results);
    const body = await this.#streams.open<StreamMessage>(caller, {
      frames: this.#frames,
      follow: async (sink) => {
        const stream = new StreamMessages(sink, id);
        const heard = watched.flatMap(({ uris }) => uris);
        stream.notify("notifications/subscriptions/acknowledged", {
          notifications: {
            ...heard.length === 0 ? {} : { resourceSubscriptions: heard },
            ...tasks.length === 0 ? {} : { taskIds: tasks.map((task) => task.id) },
          },
        });
        const followed: Followed[] = watched.map((project) =>
          this.#follow(project, caller.principal, stream)
        );
        if (tasks.length > 0) followed.push(await this.#followTasks(tasks, stream));
        if (followed.length === 0) stream.end();
        return {
          close: () => followed.forEach((one) => one.close()),
          more: () => followed.forEach((one) => one.more?.()),
          cut: () => true,
        };
      },
    });
    return new Response(body, { headers: STREAM_HEADERS });
  }

  /** The resources that a principal may read, by project. */
  #watched(uris: readonly string[], principal: Principal): readonly Watched[] {
    const { projects } = this.#services.hosting;
    const bySlug = Map.groupBy(new Set(uris), (uri) => slugIn(uri));
    return [...bySlug].slice(0, MAX_PROJECTS).flatMap(([slug, uris]) => {
      const held = slug === null ? null : projects.find(slug);
      if (held === null || !accessOf(held, principal).may("read")) return [];
      return [{ id: held.project.id, uris }];
    });
  }

  #follow({ id, uris }: Watched, principal: Principal, stream: StreamMessages) {
    const { feeds, projects } = this.#services.hosting;
    return feeds.follow(id, { after: undefined, names: Object.values(NAMES) }, {
      message: (notice) => {
        for (const uri of uris) {
          if (isAbout(uri, notice)) stream.notify("notifications/resources/updated", { uri });
        }
      },
      gap() {
        for (const uri of uris) stream.notify("notifications/resources/updated", { uri });
      },
      end: () => stream.end(),
      mayRead() {
        const held = projects.get(id);
        return held !== null && accessOf(held, principal).may("read");
      },
    });
  }

  /** Tells at once how the tasks are, and then after each event that may have changed one. */
  async #followTasks(tasks: readonly FollowedTask[], stream: StreamMessages) {
    const tell = async ({ see }: FollowedTask) => {
      try {
        stream.notify("notifications/tasks", await see());
      } catch {
        // The caller may no longer see it: tasks/get says why.
        stream.end();
      }
    };
    const types = [...new Set(tasks.flatMap(({ events }) => events))];
    const following = this.#services.eventLog.follow({ types }, {
      message(event) {
        following.more();
        for (const task of tasks) if (task.concerns(event.data)) void tell(task);
      },
      gap() {
        for (const task of tasks) void tell(task);
      },
      end: () => stream.end(),
    });
    following.more();
    for (const task of tasks) await tell(task);
    return following;
  }
}

/** The tasks among these that the caller may follow. */
async function existing(
  ids: readonly string[],
  session: Session,
  results: Pick<Results, "followedTask">,
): Promise<readonly FollowedTask[]> {
  const found: FollowedTask[] = [];
  for (const id of new Set(ids)) {
    try {
      const task = results.followedTask(id, session);
      await task.see();
      found.push(task);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }
  return found;
}

function slugIn(uri: string): string | null {
  try {
    return partsOf(uri).slug;
  } catch {
    return null;
  }
}

/** Whether a resource may be another after what a notice tells. */
function isAbout(uri: string, { name, data }: Notice): boolean {
  const { kind, rest } = partsOf(uri);
  if (kind === "ticket") return name === NAMES.ticket && data["ticket"] === rest;
  if (kind === "wiki") return name === NAMES.wiki && data["name"] === rest;
  return name === NAMES.file;
}
