import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { bodyLimitsOf, readAuthorization } from "../../http/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import {
  Invalid,
  ServiceError,
  TooLarge,
  TooSlow,
  Unauthorized,
} from "../../services/kernel/errors.ts";
import { contentTypeOf, messageFormOf } from "../../services/engines/fossil/front/mod.ts";
import type { DeliveredAnswer } from "../../services/work/sync/mod.ts";
import type { AppEnv } from "../environment.ts";
import { ArrivingBody, MEMORY_BYTES } from "./arriving_body.ts";
import { isSync, loginCookieOf } from "../sync_request.ts";

/**
 * A message up to so many times the limit is read and dropped: the program then shows the sentence in
 * place of the status 413.
 */
const MAX_DROPPED = 2;

export type SyncServices = Pick<Services, "hosting" | "config" | "pagesHost">;

/** Answers messages to any path below a repository's URL, as older programs send them. */
export function answerSyncBelow(services: SyncServices) {
  const answer = syncAnswerer(services);
  return createMiddleware<AppEnv>(async (context, next) => {
    if (!isSync(context.req)) return await next();
    return await answer(context);
  });
}

/** Creates a handler of messages. It answers with status 200 unless it cannot read the message. */
export function syncAnswerer({ hosting: { sync, repositories }, config }: SyncServices) {
  const { stallMilliseconds: stallMs } = bodyLimitsOf(config);
  const maxBytes = config.limits.sync_bytes;
  return async (context: Context<AppEnv>): Promise<Response> => {
    const { raw } = context.req;
    const form = messageFormOf(raw.headers.get("content-type"));
    if (form === null) {
      if (context.get("session") !== undefined) throw new Unauthorized("A session opens no sync");
      throw new Invalid("This takes messages of the fossil program, of type application/x-fossil");
    }
    await using stack = new AsyncDisposableStack();
    const declared = Number(raw.headers.get("content-length") ?? NaN);
    if (declared > maxBytes) {
      const text = `The message is larger than ${maxBytes} bytes (limits.sync_bytes): ` +
        "push fewer or smaller files, or ask the operator to raise the limit";
      if (declared > maxBytes * MAX_DROPPED) throw new TooLarge(text);
      const { folder } = repositories.files;
      const options = { stallMs, maxBytes: declared, folder };
      await stack.use(await ArrivingBody.begin(raw.body, options)).finish();
      return answerWith(sync.refuse(form, text));
    }
    const arriving = declared <= MEMORY_BYTES ? null : stack.use(
      await ArrivingBody.begin(raw.body, { stallMs, maxBytes, folder: repositories.files.folder }),
    );
    const source = arriving === null
      ? { kind: "bytes", bytes: await readBody(raw, stallMs) } as const
      : arriving.source;
    const answer = await sync.answer({
      slug: context.req.param("slug") ?? "",
      source,
      form,
      cookie: loginCookieOf(raw.headers),
      credential: readAuthorization(raw.headers.get("authorization") ?? undefined),
      address: context.get("address"),
      requestId: context.get("requestId"),
      signal: raw.signal,
      onIdentified: (principal) => {
        context.set("principal", principal);
        if (principal.kind !== "guest") context.env.trust?.(principal);
      },
    });
    await arriving?.finish();
    return answerWith(answer);
  };
}

/**
 * Creates a handler of messages to an address that is not a repository of Fossil: the program shows
 * the sentence.
 */
export function syncRefuser(
  { hosting: { sync } }: SyncServices,
  sentenceOf: (context: Context<AppEnv>) => string,
) {
  return async (context: Context<AppEnv>): Promise<Response> => {
    const { raw } = context.req;
    await raw.body?.cancel();
    const form = messageFormOf(raw.headers.get("content-type"));
    if (form === null) throw new Invalid("This takes messages of the fossil program");
    return answerWith(sync.refuse(form, sentenceOf(context)));
  };
}

/** Older programs need the length, and know no chunks. */
function answerWith({ body, form, length }: DeliveredAnswer): Response {
  return new Response(body as BodyInit, {
    headers: {
      "Content-Type": contentTypeOf(form),
      "Content-Length": String(length),
      "Cache-Control": "no-store",
    },
  });
}

/** Reads a short body whole. */
async function readBody(request: Request, stallMs: number): Promise<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooSlow("The body did not arrive in time")), stallMs);
  });
  try {
    return new Uint8Array(await Promise.race([request.arrayBuffer(), late]));
  } catch (error) {
    throw error instanceof ServiceError ? error : new Invalid("The body is incomplete");
  } finally {
    clearTimeout(timer);
  }
}
