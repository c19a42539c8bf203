import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { OperatorToken, Token, Tokens } from "../../services/identity/mod.ts";
import { tokenRequestSchema } from "../../services/identity/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { jsonArray } from "../json_text.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const tokenSchema = z.object({
  id: z.string(),
  owner: z.string().nullable(),
  name: z.string(),
  scopes: z.array(z.string()),
  project: z.string().nullable().openapi({
    description: "The slug of its project; null for an account's token",
  }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used: z.iso.datetime().nullable(),
}).openapi("Token");

const issuedTokenSchema = tokenSchema.extend({
  token: z.string().openapi({ description: "Shown only here" }),
}).openapi("IssuedToken");

const createToken = route("POST /v1/tokens", {
  summary: "Make a token for an account, or for a project",
  request: {
    body: jsonRequest(tokenRequestSchema.meta({ id: "TokenRequest" }), {
      owner: "scout",
      name: "laptop",
      scopes: ["read", "write"],
    }),
  },
  responses: { 201: json(issuedTokenSchema, "The token"), ...errors(400, 404, 409, 413, 503) },
});

const listTokens = route("GET /v1/tokens", {
  summary: "List all tokens, without the tokens themselves",
  responses: { 200: json(z.array(tokenSchema), "The tokens, oldest first"), ...errors() },
});

const revokeToken = route("DELETE /v1/tokens/{id}", {
  summary: "Revoke a token",
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: "Revoked" }, ...errors(404, 503) },
});

const rotateApiToken = route("POST /v1/tokens/api/rotate", {
  summary: "Replace the operator's API token, and close the streams that it opened",
  responses: {
    200: json(
      z.object({
        token: z.string().openapi({ description: "Shown only here; also in the file api_token" }),
      }).openapi("ApiToken"),
      "The new API token",
    ),
    ...errors(409, 503),
  },
});

export interface TokenRoutesOptions {
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly hosting: Pick<Services["hosting"], "projects">;
}

/** `/v1/tokens`: the tokens that accounts hold, and the operator's. */
export function tokenRoutes({ tokens, operatorToken, hosting }: TokenRoutesOptions) {
  const { projects } = hosting;
  const findProject = (slug: string) => projects.find(slug)?.project.id ?? null;
  const withSlug = <Shown extends Token>(token: Shown): Shown => ({
    ...token,
    project: token.project === null ? null : projects.get(token.project)?.project.slug ?? null,
  });
  return newRoutes()
    .openapi(createToken, async (context) => {
      const request = context.req.valid("json");
      const token = await tokens.create(request, callerOf(context), findProject);
      return context.json(withSlug(token), 201);
    })
    .openapi(listTokens, async (context) => {
      return jsonArray(context, await tokens.list(), withSlug);
    })
    .openapi(revokeToken, async (context) => {
      const { id } = context.req.valid("param");
      await tokens.revoke(id, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(rotateApiToken, async (context) => {
      return context.json({ token: await operatorToken.rotate(callerOf(context)) }, 200);
    });
}
