import { z } from "zod";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import { MAX_PASSWORD_LENGTH } from "../identity/mod.ts";
import { Created, SerializedJson, serverOperation } from "../identity/server_operation.ts";
import { writeArray } from "../../kernel/pieces.ts";
import { textSchema } from "../../kernel/validation/schemas.ts";
import type { IrcAccounts } from "./irc_accounts.ts";
import { personSchema } from "./schemas.ts";

/** What the operations on the IRC accounts of people call. */
interface AccountServices {
  readonly ircAccounts: IrcAccounts;
}

const accountSchema = z.object({
  account: z.string(),
  created_at: z.iso.datetime(),
}).meta({ id: "IrcAccount" });

const newAccountSchema = accountSchema.extend({
  server: z.string().meta({ example: "irc://127.0.0.1:6667" }),
}).meta({ id: "IssuedIrcAccount" });

const password = textSchema(0, MAX_PASSWORD_LENGTH).meta({
  description: "With at least `irc.accounts.min_password_length` characters",
});

export const listIrcAccounts = serverOperation(
  {
    http: "GET /v1/irc/accounts",
    on: "server",
    summary: "List the IRC accounts of people",
    input: z.object({}),
    ok: { schema: z.array(accountSchema), description: "The accounts, by name" },
    cli: {
      at: "account list",
      about: "list all accounts",
      columns: ["account", "CREATED: {created_at}"],
    },
  },
  async ({ ircAccounts }: AccountServices) =>
    new SerializedJson(await writeArray(await ircAccounts.list(), JSON.stringify)),
);

export const createIrcAccount = serverOperation(
  {
    http: "POST /v1/irc/accounts",
    on: "server",
    summary: "Make the IRC account of a person",
    input: personSchema.extend({ password }),
    bodyName: "IrcAccountRequest",
    example: { account: "ann", password: "correct horse battery" },
    created: { schema: newAccountSchema, description: "The account" },
    refusals: [{ error: Conflict }],
  },
  async ({ ircAccounts }: AccountServices, request, { caller }) =>
    new Created(await ircAccounts.create(request, caller)),
);

export const setIrcPassword = serverOperation(
  {
    http: "PUT /v1/irc/accounts/{account}/password",
    on: "server",
    whileFull: true,
    summary: "Replace the password of a person's IRC account and close its sessions",
    input: z.object({ account: z.string(), password }),
    bodyName: "IrcPasswordRequest",
    example: { password: "correct horse battery" },
    done: "Replaced",
    refusals: [{ error: NotFound }, { error: Conflict }, { error: Unavailable }],
  },
  ({ ircAccounts }: AccountServices, { account, password }, { caller }) =>
    ircAccounts.setPassword(account, password, caller),
);

export const deleteIrcAccount = serverOperation(
  {
    http: "DELETE /v1/irc/accounts/{account}",
    on: "server",
    summary: "Remove the IRC account of a person and close its sessions",
    input: z.object({ account: z.string() }),
    done: "Removed",
    refusals: [{ error: NotFound }],
    cli: {
      at: "account remove <name:account>",
      about: "remove an account and close its sessions",
      aliases: ["delete"],
    },
  },
  ({ ircAccounts }: AccountServices, { account }, { caller }) =>
    ircAccounts.delete(account, caller),
);
