import { NO_ADMINS } from "./admins.ts";
import { z } from "zod";
import { Conflict, NotFound, SwitchedOff, Unavailable } from "../../kernel/errors.ts";
import { Created, SerializedJson, serverOperation } from "../identity/server_operation.ts";
import { writeArray } from "../../kernel/pieces.ts";
import type { Admins } from "./admins.ts";
import { adminSchema, passwordSchema } from "./schemas.ts";

/** What the operations on admins call. */
interface AdminServices {
  /** Null if the configuration turns admins off. */
  readonly admins: Admins | null;
}

const accountSchema = z.object({
  username: z.string(),
  created_at: z.iso.datetime(),
}).meta({ id: "Admin" });

const byName = z.object({ username: z.string() });

const unknown = { error: NotFound };

/** @throws SwitchedOff */
function present({ admins }: AdminServices): Admins {
  if (admins !== null) return admins;
  throw new SwitchedOff(NO_ADMINS);
}

export const listAdmins = serverOperation(
  {
    http: "GET /v1/admins",
    on: "server",
    summary: "List the admins",
    input: z.object({}),
    ok: { schema: z.array(accountSchema), description: "The admins, by name" },
    refusals: [unknown],
    cli: {
      at: "admin list",
      about: "list all admins",
      columns: ["username", "CREATED: {created_at}"],
    },
  },
  async (services: AdminServices) =>
    new SerializedJson(await writeArray(await present(services).list(), JSON.stringify)),
);

export const createAdmin = serverOperation({
  http: "POST /v1/admins",
  on: "server",
  summary: "Make an admin",
  input: adminSchema,
  bodyName: "AdminRequest",
  example: { username: "ann", password: "correct horse battery" },
  created: { description: "Created" },
  refusals: [unknown, { error: Conflict }],
}, async (services: AdminServices, request, { caller }) => {
  await present(services).create(request, caller);
  return new Created(undefined);
});

export const setAdminPassword = serverOperation(
  {
    http: "PUT /v1/admins/{username}/password",
    on: "server",
    whileFull: true,
    summary: "Replace an admin's password and end its sessions",
    input: byName.extend(passwordSchema.shape),
    bodyName: "PasswordRequest",
    example: { password: "correct horse battery" },
    done: "Replaced",
    refusals: [unknown, { error: Conflict }, { error: Unavailable }],
  },
  (services: AdminServices, { username, password }, { caller }) =>
    present(services).setPassword(username, password, caller),
);

export const deleteAdmin = serverOperation(
  {
    http: "DELETE /v1/admins/{username}",
    on: "server",
    summary: "Remove an admin with its sessions and tokens; the last one cannot be removed",
    input: byName,
    done: "Removed",
    refusals: [unknown, { error: Conflict }],
    cli: {
      at: "admin remove <name:username>",
      about: "remove an admin with its sessions and tokens",
      aliases: ["delete"],
    },
  },
  (services: AdminServices, { username }, { caller }) => present(services).delete(username, caller),
);
