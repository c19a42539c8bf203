import { z } from "zod";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import { writeArray } from "../../kernel/pieces.ts";
import type { OperatorToken } from "./operator_token.ts";
import { tokenRequestSchema } from "./schemas.ts";
import { Created, SerializedJson, serverOperation } from "./server_operation.ts";
import type { Token, Tokens } from "./tokens.ts";

/** What the operations on tokens call. */
interface TokenServices {
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly hosting: { readonly projects: KnownProjects };
}

/** A project, as far as a token of it knows it. */
interface NamedProject {
  readonly project: { readonly id: string; readonly slug: string };
}

/** The projects, by their slugs and internal ids. */
interface KnownProjects {
  find(slug: string): NamedProject | null;
  get(id: string): NamedProject | null;
}

const tokenSchema = z.object({
  id: z.string(),
  owner: z.string().nullable(),
  name: z.string(),
  scopes: z.array(z.string()),
  project: z.string().nullable().meta({
    description: "The slug of its project; null for an account's token",
  }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used: z.iso.datetime().nullable(),
}).meta({ id: "Token" });

const issuedTokenSchema = tokenSchema.extend({
  token: z.string().meta({ description: "Shown only here" }),
}).meta({ id: "IssuedToken" });

const apiTokenSchema = z.object({
  token: z.string().meta({ description: "Shown only here; also in the file api_token" }),
}).meta({ id: "ApiToken" });

export const createToken = serverOperation({
  http: "POST /v1/tokens",
  on: "server",
  summary: "Make a token for an account, or for a project",
  input: tokenRequestSchema,
  bodyName: "TokenRequest",
  example: { owner: "scout", name: "laptop", scopes: ["read", "write"] },
  created: { schema: issuedTokenSchema, description: "The token" },
  refusals: [{ error: NotFound }, { error: Conflict }],
}, async (services: TokenServices, request, { caller }) => {
  const { tokens, hosting: { projects } } = services;
  const findProject = (slug: string) => projects.find(slug)?.project.id ?? null;
  return new Created(withSlug(services, await tokens.create(request, caller, findProject)));
});

export const listTokens = serverOperation({
  http: "GET /v1/tokens",
  on: "server",
  summary: "List all tokens, without the tokens themselves",
  input: z.object({}),
  ok: { schema: z.array(tokenSchema), description: "The tokens, oldest first" },
  cli: {
    at: "token list",
    about: "list all tokens without their secrets",
    columns: [
      "id",
      "OWNER: {owner|project}",
      "name",
      "scopes",
      'EXPIRES: {expires_at|"never"}',
      'LAST USED: {last_used|"never"}',
    ],
  },
}, async (services: TokenServices) => {
  const write = (token: Token) => JSON.stringify(withSlug(services, token));
  return new SerializedJson(await writeArray(await services.tokens.list(), write));
});

export const revokeToken = serverOperation({
  http: "DELETE /v1/tokens/{id}",
  on: "server",
  summary: "Revoke a token",
  input: z.object({ id: z.string() }),
  done: "Revoked",
  refusals: [{ error: NotFound }],
}, ({ tokens }: TokenServices, { id }, { caller }) => tokens.revoke(id, caller));

export const rotateApiToken = serverOperation({
  http: "POST /v1/tokens/api/rotate",
  on: "server",
  whileFull: true,
  summary: "Replace the operator's API token, and close the streams that it opened",
  input: z.object({}),
  ok: { schema: apiTokenSchema, description: "The new API token" },
  refusals: [{ error: Conflict }, { error: Unavailable }],
  cli: {
    at: "token rotate",
    about: "replace the API token and print the new one",
    says: "{token}",
    examples: [{ line: "token rotate", purpose: "Replace the token in data/api_token" }],
  },
}, async ({ operatorToken }: TokenServices, _input, { caller }) => ({
  token: await operatorToken.rotate(caller),
}));

/** A token with the slug of its project in place of the project's id. */
function withSlug<Shown extends Token>({ hosting }: TokenServices, token: Shown): Shown {
  if (token.project === null) return token;
  return { ...token, project: hosting.projects.get(token.project)?.project.slug ?? null };
}
