import { z } from "../extended_zod.ts";
import { type BodyLimits, BodyReader } from "../../http/mod.ts";
import type { HeraldDesk } from "../../services/bots/mod.ts";
import { heraldSourceSchema } from "../../services/bots/schemas.ts";
import { Conflict, TooMany } from "../../services/errors.ts";
import { placeOf } from "../../services/identity/mod.ts";
import { Semaphore } from "../../services/kernel/semaphore.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const noticeSchema = z.strictObject({
  type: z.string().min(1).max(100).default("notice")
    .describe("What happened, such as `deploy.failed`; it decides the channel"),
  text: z.string().min(1).max(600).describe("What herald says; at most five lines"),
  channel: z.string().min(1).max(80).optional().describe("Instead of the channel of the type"),
}).openapi("HeraldNotice");

const acceptedSchema = z.object({
  channel: z.string(),
  waiting: z.int().describe("How many notices wait now"),
}).openapi("HeraldAccepted");

const sourceSchema = heraldSourceSchema.meta({ id: "HeraldSource" });

const newSourceSchema = sourceSchema.extend({
  path: z.string().describe("Where it sends its webhooks"),
  secret: z.string().describe("It is shown once"),
}).openapi("IssuedHeraldSource");

const announce = route("POST /v1/herald", {
  summary: "Announce an event in a channel, by the bot herald",
  request: {
    body: jsonRequest(noticeSchema, { type: "deploy.failed", text: "Deploy 42 failed" }),
  },
  responses: {
    202: json(acceptedSchema, "It is on disk and waits for its turn"),
    ...errors(400, 409, 413, 429, 503),
  },
});

const listSources = route("GET /v1/herald/sources", {
  summary: "List the programs whose webhooks herald announces",
  responses: { 200: json(z.array(sourceSchema), "The sources"), ...errors(409, 503) },
});

const addSource = route("POST /v1/herald/sources", {
  summary: "Add a program whose webhooks herald announces",
  request: { body: jsonRequest(sourceSchema, { name: "code", kind: "github" }) },
  responses: {
    201: json(newSourceSchema, "The source, with its secret"),
    ...errors(400, 409, 413, 503),
  },
});

const name = z.object({ name: z.string() });

const removeSource = route("DELETE /v1/herald/sources/{name}", {
  summary: "Remove a source of webhooks: its secret is no longer valid",
  request: { params: name },
  responses: { 204: { description: "Removed" }, ...errors(404, 409, 503) },
});

/** `/v1/herald…`: for operators and their programs. */
export function heraldRoutes(desk: HeraldDesk | null) {
  return newRoutes()
    .openapi(announce, async (context) => {
      const { type, text, channel } = context.req.valid("json");
      return context.json(await required(desk).announce({ type, text }, channel), 202);
    })
    .openapi(listSources, (context) => context.json(required(desk).sources(), 200))
    .openapi(addSource, async (context) => {
      const source = context.req.valid("json");
      const secret = await required(desk).addSource(source, callerOf(context));
      return context.json({ ...source, path: `/webhooks/${source.name}`, secret }, 201);
    })
    .openapi(removeSource, async (context) => {
      await required(desk).removeSource(context.req.valid("param").name, callerOf(context));
      return context.body(null, 204);
    });
}

/** Longest webhook, in bytes: GitHub sends up to 25 MB. */
const WEBHOOK_BYTES = 26_214_400;

/** Most webhooks beyond the usual length that are read at once; one of each address. */
const MAX_LONG = 3;

/** Most of them that wait, in all and of one address, and how long, in milliseconds: as GitHub does. */
const MAX_WAITING = 32;
const MAX_WAITING_OF_ONE = 8;
const LONGEST_WAIT_MS = 10_000;

/** After how many seconds to send a long webhook again that found no place. */
const RETRY_SECONDS = 10;

function noTurn(): TooMany {
  return new TooMany("Other long webhooks are being read; send it again later", RETRY_SECONDS);
}

/** `/webhooks/…`: its callers prove themselves by a signature. */
export function heraldWebhookRoutes(desk: HeraldDesk | null, limits: BodyLimits) {
  const receive = route("POST /webhooks/{name}", {
    summary: "Receive a webhook of GitHub, Forgejo, Gitea, GitLab or Standard Webhooks",
    request: { params: name },
    responses: {
      200: { description: "It was accepted before" },
      202: json(acceptedSchema, "It is on disk and waits for its turn"),
      ...errors(400, 401, 408, 409, 413, 429, 503),
    },
  });
  const maxBytes = Math.max(limits.maxBytes, WEBHOOK_BYTES);
  const reader = new BodyReader({ ...limits, maxBytes });
  // Those who wait are not refused at once: GitHub does not send one again that was refused.
  const long = new Semaphore({
    permits: MAX_LONG,
    permitsPerKey: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_OF_ONE,
    maxWaitMs: LONGEST_WAIT_MS,
    refusal: noTurn,
  });
  return newRoutes().openapi(receive, async (context) => {
    // Senders send again what was not accepted.
    context.get("space").require();
    const { raw } = context.req;
    const { name } = context.req.valid("param");
    const headers = Object.fromEntries(raw.headers);
    using permits = new DisposableStack();
    const enter = async () => {
      required(desk).requireSource(name);
      permits.use(await long.acquire(placeOf(context.get("address") ?? "")));
    };
    const body = await reader.readBytes(raw, limits.maxBytes, enter);
    const accepted = await required(desk).receive(name, headers, body);
    return accepted === null ? context.body(null, 200) : context.json(accepted, 202);
  });
}

/** @throws Conflict without bots */
function required(desk: HeraldDesk | null): HeraldDesk {
  if (desk !== null) return desk;
  throw new Conflict("There are no bots: the bridge or the policies are off in the configuration");
}
