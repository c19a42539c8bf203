import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import { type BodyLimits, BodyReader } from "../../http/mod.ts";
import { type HeraldDesk, requireDesk } from "../../services/chat/bots/mod.ts";
import { acceptedSchema } from "../../services/chat/bots/schemas.ts";
import { TooMany } from "../../services/kernel/errors.ts";
import { placeOf } from "../../services/people/identity/mod.ts";
import { Semaphore } from "../../services/kernel/semaphore.ts";
import { errors, json } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

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
  const receive = specialRoute("POST /webhooks/{name}", {
    operationId: "receiveWebhook",
    summary: "Receive a webhook of GitHub, Forgejo, Gitea, GitLab or Standard Webhooks",
    request: { params: z.object({ name: z.string() }) },
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
  return new ApiRoutes().openapi(receive, async (context) => {
    // Senders send again what was not accepted.
    context.get("space").require();
    const { raw } = context.req;
    const { name } = context.req.valid("param");
    const headers = Object.fromEntries(raw.headers);
    using permits = new DisposableStack();
    const enter = async () => {
      requireDesk(desk).requireSource(name);
      permits.use(await long.acquire(placeOf(context.get("address") ?? "")));
    };
    const body = await reader.readBytes(raw, limits.maxBytes, enter);
    const accepted = await requireDesk(desk).receive(name, headers, body);
    return accepted === null ? context.body(null, 200) : context.json(accepted, 202);
  });
}
