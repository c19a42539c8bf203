import type { Context } from "hono";
import { type BodyLimits, BodyReader } from "../http/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import { GRANTED_SCOPES, type IssuedTokens, RefusedGrant } from "../services/people/grants/mod.ts";
import { ApiRoutes } from "./api_routes.ts";
import type { AppEnv } from "./environment.ts";
import { z } from "./extended_zod.ts";
import { addressForPrograms } from "./middleware/pages_host.ts";
import { errors, json } from "./schemas.ts";
import { specialRoute } from "./special_route.ts";

/** Longest form, in bytes. */
const FORM_BYTES = 16_384;

const serverSchema = z.object({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  revocation_endpoint: z.url(),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  client_id_metadata_document_supported: z.boolean(),
  authorization_response_iss_parameter_supported: z.boolean(),
}).openapi("AuthorizationServer");

const resourceSchema = z.object({
  resource: z.url(),
  authorization_servers: z.array(z.url()),
  scopes_supported: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
}).openapi("ProtectedResource");

const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  expires_in: z.int(),
  refresh_token: z.string(),
  scope: z.string(),
}).openapi("GrantedTokens");

const refusalSchema = z.object({ error: z.string(), error_description: z.string() })
  .openapi("GrantRefusal");

const getServer = specialRoute("GET /.well-known/oauth-authorization-server", {
  operationId: "getAuthorizationServer",
  summary: "Where OAuth clients ask for tokens (RFC 8414); needs no credential",
  responses: { 200: json(serverSchema, "The metadata") },
});

const getResource = specialRoute("GET /.well-known/oauth-protected-resource/mcp", {
  operationId: "getProtectedResource",
  summary: "Who gives tokens for the MCP endpoint (RFC 9728); needs no credential",
  responses: { 200: json(resourceSchema, "The metadata") },
});

const postToken = specialRoute("POST /oauth/token", {
  operationId: "redeemGrant",
  summary: "Redeem a code, or refresh a token (OAuth 2.1)",
  description: "A form: `grant_type` is `authorization_code` with `code`, `redirect_uri`, " +
    "`code_verifier` and `client_id`, or `refresh_token` with `refresh_token` and `client_id`; " +
    "`resource` may say for what. A code or a refresh token works once: another use ends the grant.",
  responses: {
    200: json(tokensSchema, "The tokens"),
    ...errors(413, 429, 503),
    400: json(refusalSchema, "It is refused (RFC 6749, section 5.2)"),
  },
});

const postRevocation = specialRoute("POST /oauth/revoke", {
  operationId: "revokeGrant",
  summary: "End the grant of a refresh token, or an access token (RFC 7009)",
  description: "A form with `token` and `client_id`.",
  responses: { 200: { description: "It opens nothing" }, ...errors(400, 413, 429) },
});

/** The metadata of the resource at an address. */
export function protectedResource(origin: string, issuer: string): z.infer<typeof resourceSchema> {
  return {
    resource: `${origin}/mcp`,
    authorization_servers: [issuer],
    scopes_supported: [...GRANTED_SCOPES],
    bearer_methods_supported: ["header"],
    resource_name: "muster",
  };
}

/** OAuth 2.1 for clients that know nothing else; the page for people is `/oauth/authorize`. */
export function oauthRoutes(
  services: Pick<Services, "grants" | "tokens" | "identity" | "pagesHost" | "config" | "space">,
  limits: BodyLimits,
) {
  const { grants, tokens, identity } = services;
  const reader = new BodyReader({ ...limits, maxBytes: FORM_BYTES });
  const read = async (context: Context<AppEnv>) =>
    new URLSearchParams(await reader.read(context.req.raw));
  return new ApiRoutes().openapi(getServer, (context) => {
    const issuer = addressForPrograms(context, services);
    return context.json({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      scopes_supported: [...GRANTED_SCOPES],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    }, 200);
  }).openapi(getResource, (context) => {
    const origin = addressForPrograms(context, services);
    return context.json(protectedResource(origin, origin), 200);
  }).openapi(postToken, async (context) => {
    services.space.require();
    const form = await read(context);
    const clientId = form.get("client_id") ?? "";
    const resource = form.get("resource");
    const from = placeOf(context);
    context.header("Cache-Control", "no-store");
    try {
      let issued: IssuedTokens;
      switch (form.get("grant_type")) {
        case "authorization_code":
          issued = await grants.redeem(form.get("code") ?? "", {
            clientId,
            redirectUri: form.get("redirect_uri") ?? "",
            verifier: form.get("code_verifier") ?? "",
            resource,
          }, from);
          break;
        case "refresh_token": {
          const token = form.get("refresh_token") ?? "";
          issued = await grants.refresh(token, { clientId, resource }, from);
          break;
        }
        default:
          return context.json({
            error: "unsupported_grant_type",
            error_description: "Use authorization_code or refresh_token",
          }, 400);
      }
      return context.json(issued, 200);
    } catch (error) {
      if (!(error instanceof RefusedGrant)) throw error;
      return context.json({ error: "invalid_grant", error_description: error.message }, 400);
    }
  }).openapi(postRevocation, async (context) => {
    const form = await read(context);
    const token = form.get("token") ?? "";
    const from = placeOf(context);
    const owner = identity.recognize({ kind: "bearer", token });
    const tokenId = owner?.tokenId ?? null;
    if (owner === null || tokenId === null) {
      await grants.revoke(token, form.get("client_id") ?? "", from);
    } else await tokens.revoke(tokenId, { ...from, principal: owner });
    return context.body(null, 200);
  });
}

/** Where a request comes from; a client proves itself by what it presents. */
function placeOf(context: Context<AppEnv>) {
  return { address: context.get("address"), requestId: context.get("requestId") };
}
