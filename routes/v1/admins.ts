import { z } from "../extended_zod.ts";
import type { Admins } from "../../services/admins/mod.ts";
import { adminSchema, passwordSchema } from "../../services/admins/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { jsonArray } from "../json_text.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const accountSchema = z.object({
  username: z.string(),
  created_at: z.iso.datetime(),
}).openapi("Admin");

const params = z.object({ username: z.string() });

const listAdmins = route("GET /v1/admins", {
  summary: "List the admins",
  responses: { 200: json(z.array(accountSchema), "The admins, by name"), ...errors(404) },
});

const createAdmin = route("POST /v1/admins", {
  summary: "Make an admin",
  request: {
    body: jsonRequest(adminSchema.meta({ id: "AdminRequest" }), {
      username: "ann",
      password: "correct horse battery",
    }),
  },
  responses: { 201: { description: "Created" }, ...errors(400, 404, 409, 413, 503) },
});

const setPassword = route("PUT /v1/admins/{username}/password", {
  summary: "Replace an admin's password and end its sessions",
  request: {
    params,
    body: jsonRequest(passwordSchema.meta({ id: "PasswordRequest" }), {
      password: "correct horse battery",
    }),
  },
  responses: { 204: { description: "Replaced" }, ...errors(400, 404, 409, 413, 503) },
});

const deleteAdmin = route("DELETE /v1/admins/{username}", {
  summary: "Remove an admin with its sessions and tokens; the last one cannot be removed",
  request: { params },
  responses: { 204: { description: "Removed" }, ...errors(404, 409, 503) },
});

/** `/v1/admins`: the admins of this server. */
export function adminRoutes(admins: Admins) {
  return newRoutes()
    .openapi(listAdmins, async (context) => jsonArray(context, await admins.list()))
    .openapi(createAdmin, async (context) => {
      await admins.create(context.req.valid("json"), callerOf(context));
      return context.body(null, 201);
    })
    .openapi(setPassword, async (context) => {
      const { username } = context.req.valid("param");
      const { password } = context.req.valid("json");
      await admins.setPassword(username, password, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(deleteAdmin, async (context) => {
      const { username } = context.req.valid("param");
      await admins.delete(username, callerOf(context));
      return context.body(null, 204);
    });
}
