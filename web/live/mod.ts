/**
 * Event streams for the pages. A page names one of them in its view (`live`), and the script loads
 * its live parts again when an event comes. The stream of a channel brings the messages themselves.
 */
import type { Hono } from "hono";
import type { AppEnv } from "../../routes/environment.ts";
import type { Surroundings } from "../visit.ts";
import type { ChannelStream } from "./channels.ts";
import type { ConversationStream } from "./conversations.ts";
import { JobLogStream } from "./job_log.ts";
import { HomeStream } from "./home.ts";
import { ProjectStream } from "./projects.ts";
import { UnreadWatch } from "./unread_watch.ts";

/** Adds the streams to the app. They belong to the session's cookie and end with it. */
export function mountStreams(app: Hono<AppEnv>, surroundings: Surroundings): void {
  const { services } = surroundings;
  const { scheduler, log } = services;
  const unread = new UnreadWatch({ services, scheduler, log });
  const home = new HomeStream(surroundings, unread);
  app.get("/live/home", (context) => home.answer(context));
  const projects = new ProjectStream(surroundings, unread);
  app.get("/live/projects/:slug", (context) => projects.answer(context));
  const jobLogs = new JobLogStream(surroundings);
  app.get("/live/projects/:slug/jobs/:id", (context) => jobLogs.answer(context));
  // These render messages, so they are loaded at the first visit, as pages are.
  let channels: Promise<ChannelStream> | null = null;
  app.get("/live/channels/:name", async (context) => {
    channels ??= import("./channels.ts").then((module) =>
      new module.ChannelStream(surroundings, unread)
    );
    return await (await channels).answer(context);
  });
  let conversations: Promise<ConversationStream> | null = null;
  app.get("/live/messages/:nick", async (context) => {
    conversations ??= import("./conversations.ts")
      .then((module) => new module.ConversationStream(surroundings, unread));
    return await (await conversations).answer(context);
  });
}
