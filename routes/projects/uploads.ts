import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, callerOf, confirm } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { bodyLimitsOf } from "../../http/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { actorOf } from "../../services/work/projects/mod.ts";
import {
  assetNameSchema,
  uploadSchema,
  type UploadView,
} from "../../services/work/releases/schemas.ts";
import { errorBody } from "../middleware/error_body.ts";
import { errorSchema, json } from "../schemas.ts";
import { projectErrors } from "./route.ts";
import { specialRoute } from "../special_route.ts";

/** The supported version of tus. */
const VERSION = "1.0.0";
/** The type of a part. */
const PART = "application/offset+octet-stream";

const bytes = z.string().regex(/^\d{1,15}$/, { error: "must be a number of bytes" })
  .transform(Number).openapi({ type: "integer" });

const params = z.object({ id: z.string() });
const part = { content: { [PART]: { schema: z.any().openapi({ format: "binary" }) } } };

const state = z.object({
  "Tus-Resumable": z.string(),
  "Upload-Offset": z.int(),
  "Upload-Length": z.int(),
  "Upload-Expires": z.string().openapi({ description: "When it expires without further parts" }),
});

const otherVersion = {
  412: json(errorSchema, "The client uses another version of tus"),
} as const;

/** Refuses other versions of the protocol, and names ours in each answer. */
const tus = createMiddleware<AppEnv>(async (context, next) => {
  const wanted = context.req.header("tus-resumable");
  if (wanted === undefined || wanted === VERSION) await next();
  else {
    context.res = errorBody(context, 412, `This is tus ${VERSION}, not ${wanted.slice(0, 20)}`);
    context.res.headers.set("Tus-Version", VERSION);
  }
  context.res.headers.set("Tus-Resumable", VERSION);
});

const createUpload = specialRoute("POST /api/releases/{tag}/assets", {
  operationId: "beginUpload",
  summary: "Begin a resumable upload of a release's file",
  description: "For clients of tus 1.0, such as tus-js-client and tusc. `Upload-Metadata` " +
    "has `filename` and, optionally, `filetype` in Base64. The body may be the first part.",
  request: {
    params: z.object({ tag: z.string() }),
    headers: z.object({
      "upload-length": bytes,
      "upload-metadata": z.string().max(2000, { error: "must have at most 2000 characters" }),
    }),
    body: Object.assign({ required: false }, part),
  },
  responses: {
    201: {
      description: "Created; `Location` is its address",
      headers: state.extend({ Location: z.string() }),
    },
    ...otherVersion,
    ...projectErrors(400, 408, 409, 413, 429),
  },
}, tus);

const getUpload = specialRoute("GET /api/uploads/{id}", {
  operationId: "getUpload",
  summary: "The state of an upload",
  description:
    "A client sends HEAD before it continues an upload: this ends the request that still " +
    "seems to work on it, and `Upload-Offset` in the answer is the start of the next part.",
  request: { params },
  responses: {
    200: Object.assign({ headers: state }, json(uploadSchema, "The upload")),
    ...otherVersion,
    ...projectErrors(409),
  },
}, tus);

const appendPart = specialRoute("PATCH /api/uploads/{id}", {
  operationId: "continueUpload",
  summary: "Continue an upload",
  description:
    `The body is the bytes from \`Upload-Offset\` on, as \`${PART}\`. With the last byte, the ` +
    "release gets the file.",
  request: {
    params,
    headers: z.object({ "upload-offset": bytes }),
    body: Object.assign({ required: true }, part),
  },
  responses: {
    204: { description: "The bytes are stored", headers: state },
    ...otherVersion,
    415: json(errorSchema, `The body is not of type \`${PART}\``),
    ...projectErrors(400, 408, 409, 413),
  },
}, tus);

const deleteUpload = specialRoute("DELETE /api/uploads/{id}", {
  operationId: "cancelUpload",
  summary: "Cancel an upload, and remove its bytes",
  request: { params },
  responses: { 204: { description: "Removed" }, ...otherVersion, ...projectErrors(409) },
}, tus);

type UploadServices = Pick<
  Services,
  "hosting" | "accounts" | "config" | "identity" | "webSessions" | "pagesHost"
>;

/** In whose name a request acts, and how its part is appended. */
function uploadRequests(services: UploadServices) {
  const { hosting: { uploads }, accounts, config } = services;
  const { stallMilliseconds: stallMs } = bodyLimitsOf(config);
  const requestOf = (context: Context<AppEnv>) => {
    const access = context.get("access");
    const actor = actorOf(access, undefined, accounts);
    return { caller: callerOf(context), actor, isAdmin: access.isAdmin };
  };
  const confirmed = async (context: Context<AppEnv>) => {
    await confirm(context);
    return requestOf(context);
  };
  const append = (context: Context<AppEnv>, id: string, offset: number, isEmpty = false) =>
    uploads.append(
      context.get("access").project,
      id,
      { offset, body: isEmpty ? null : context.req.raw.body, stallMs },
      requestOf(context),
      () => confirmed(context),
    );
  return { requestOf, append };
}

/** `POST /api/releases/{tag}/assets` and `/api/uploads`: resumable uploads (tus 1.0). */
export function uploadRoutes(
  services: UploadServices,
) {
  const { uploads } = services.hosting;
  const { requestOf, append } = uploadRequests(services);
  return new ApiRoutes()
    .openapi(createUpload, async (context) => {
      const { tag } = context.req.valid("param");
      const headers = context.req.valid("header");
      const { name, contentType } = fileOf(headers["upload-metadata"]);
      const asked = { tag, name, contentType, length: headers["upload-length"] };
      const { project } = context.get("access");
      const begun = await uploads.create(project, asked, requestOf(context));
      const hasPart = isPart(context);
      const upload = hasPart || begun.length === 0
        ? await append(context, begun.id, 0, !hasPart)
        : begun;
      const base = context.req.path.replace(/\/releases\/[^/]+\/assets\/?$/, "");
      return context.body(null, 201, {
        ...headersOf(upload),
        Location: `${base}/uploads/${begun.id}`,
      });
    })
    .openapi(getUpload, async (context) => {
      const { project } = context.get("access");
      const { id } = context.req.valid("param");
      const isResuming = context.req.method === "HEAD";
      const upload = isResuming
        ? await uploads.resume(project, id, requestOf(context))
        : await uploads.find(project, id, requestOf(context));
      return context.json(upload, 200, headersOf(upload));
    })
    .openapi(appendPart, async (context) => {
      if (!isPart(context)) return errorBody(context, 415, `The body must be ${PART}`) as never;
      const { id } = context.req.valid("param");
      const { "upload-offset": offset } = context.req.valid("header");
      const upload = await append(context, id, offset);
      return context.body(null, 204, headersOf(upload));
    })
    .openapi(deleteUpload, async (context) => {
      const { project } = context.get("access");
      await uploads.remove(project, context.req.valid("param").id, requestOf(context));
      return context.body(null, 204);
    });
}

function isPart(context: Context<AppEnv>): boolean {
  return context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() === PART;
}

function headersOf({ offset, length, expires_at }: UploadView): Record<string, string> {
  return {
    "Upload-Offset": `${offset}`,
    "Upload-Length": `${length}`,
    "Upload-Expires": new Date(expires_at).toUTCString(),
  };
}

/** The file in the header `Upload-Metadata`, which has pairs of a key and a value in Base64. */
function fileOf(metadata: string): { readonly name: string; readonly contentType: string } {
  const values = new Map(
    metadata.split(",").map((pair) => {
      const [key = "", value = ""] = pair.trim().split(/\s+/);
      return [key, decoded(value)];
    }),
  );
  const name = assetNameSchema.safeParse(values.get("filename"));
  if (!name.success) {
    throw new Invalid('"filename" in Upload-Metadata must be the name of a file, in Base64');
  }
  const type = values.get("filetype") ?? "";
  const isType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;[ -~]{0,100})?$/.test(type);
  return { name: name.data, contentType: isType ? type : "application/octet-stream" };
}

function decoded(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)));
  } catch {
    throw new Invalid("A value in Upload-Metadata is not Base64");
  }
}
