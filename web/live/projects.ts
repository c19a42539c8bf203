import type { Context } from "hono";
import { type AppEnv, callerOf } from "../../routes/environment.ts";
import { EventFrames } from "../../routes/event_streams.ts";
import type { Notice } from "../../services/work/feeds/mod.ts";
import { accessOf, accessProject } from "../../services/work/projects/mod.ts";
import type { Surroundings } from "../visit.ts";
import { answerStream, startOf, visitorOf } from "./request.ts";
import { unreadEvent, type UnreadNews, type UnreadWatch } from "./unread_watch.ts";

/** The names and numbers of a project's events, for its pages. */
export class ProjectStream {
  readonly #surroundings: Surroundings;
  readonly #frames = new EventFrames<Notice | UnreadNews>((item) =>
    "kind" in item ? unreadEvent(item) : `id: ${item.seq}\ndata: ${item.name}`
  );
  readonly #unread: UnreadWatch;

  constructor(surroundings: Surroundings, unread: UnreadWatch) {
    this.#surroundings = surroundings;
    this.#unread = unread;
  }

  /**
   * @throws NotFound if the visitor may not read the project; Invalid if the start is no event;
   * TooMany
   */
  async answer(context: Context<AppEnv>): Promise<Response> {
    const { services, streams } = this.#surroundings;
    const { projects, feeds } = services.hosting;
    const principal = visitorOf(context, services);
    const access = accessProject(projects, context.req.param("slug") ?? "", principal);
    access.require("read");
    const { id } = access.project;
    const after = startOf(context);
    const caller = callerOf(context);
    await services.eventLog.reach(after);
    return await answerStream<Notice | UnreadNews>(context, streams, {
      frames: this.#frames,
      follow: (sink) => {
        const following = feeds.follow(id, { after }, {
          message: (notice) => sink.message(notice),
          gap: (gap) => sink.gap(gap),
          end: () => sink.end(),
          mayRead() {
            const held = projects.get(id);
            return held !== null && accessOf(held, principal).may("read");
          },
        });
        if (principal.kind === "guest") return following;
        const forget = this.#unread.add(caller, "", (news) => sink.message(news));
        return {
          more: () => following.more(),
          cut: () => following.cut(),
          close() {
            forget();
            following.close();
          },
        };
      },
    });
  }
}
