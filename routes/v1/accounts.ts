import { z } from "../extended_zod.ts";
import type { IrcAccounts } from "../../services/agents/mod.ts";
import { personSchema } from "../../services/agents/schemas.ts";
import { MAX_PASSWORD_LENGTH } from "../../services/identity/mod.ts";
import { textSchema } from "../../services/validation/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { jsonArray } from "../json_text.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const accountSchema = z.object({
  account: z.string(),
  created_at: z.iso.datetime(),
}).openapi("IrcAccount");

const newAccountSchema = accountSchema.extend({
  server: z.string().openapi({ example: "irc://127.0.0.1:6667" }),
}).openapi("IssuedIrcAccount");

/** The routes with a password in the body, with at least the given length. */
function passwordRoutes(minPasswordLength: number) {
  const password = textSchema(minPasswordLength, MAX_PASSWORD_LENGTH);
  const createAccount = route("POST /v1/irc/accounts", {
    summary: "Make the IRC account of a person",
    request: {
      body: jsonRequest(personSchema.extend({ password }).meta({ id: "IrcAccountRequest" }), {
        account: "ann",
        password: "correct horse battery",
      }),
    },
    responses: { 201: json(newAccountSchema, "The account"), ...errors(400, 409, 413, 503) },
  });
  const setPassword = route("PUT /v1/irc/accounts/{account}/password", {
    summary: "Replace the password of a person's IRC account and close its sessions",
    request: {
      params: z.object({ account: z.string() }),
      body: jsonRequest(z.object({ password }).meta({ id: "IrcPasswordRequest" }), {
        password: "correct horse battery",
      }),
    },
    responses: { 204: { description: "Replaced" }, ...errors(400, 404, 409, 413, 503) },
  });
  return { createAccount, setPassword };
}

const listAccounts = route("GET /v1/irc/accounts", {
  summary: "List the IRC accounts of people",
  responses: { 200: json(z.array(accountSchema), "The accounts, by name"), ...errors() },
});

const deleteAccount = route("DELETE /v1/irc/accounts/{account}", {
  summary: "Remove the IRC account of a person and close its sessions",
  request: { params: z.object({ account: z.string() }) },
  responses: { 204: { description: "Removed" }, ...errors(404, 503) },
});

/** `/v1/irc/accounts`: the people on IRC. */
export function accountRoutes(accounts: IrcAccounts) {
  const { createAccount, setPassword } = passwordRoutes(accounts.minPasswordLength);
  return newRoutes()
    .openapi(createAccount, async (context) => {
      const account = await accounts.create(context.req.valid("json"), callerOf(context));
      return context.json(account, 201);
    })
    .openapi(listAccounts, async (context) => jsonArray(context, await accounts.list()))
    .openapi(setPassword, async (context) => {
      const { account } = context.req.valid("param");
      const { password } = context.req.valid("json");
      await accounts.setPassword(account, password, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(deleteAccount, async (context) => {
      const { account } = context.req.valid("param");
      await accounts.delete(account, callerOf(context));
      return context.body(null, 204);
    });
}
