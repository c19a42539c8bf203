import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { print, table } from "./output.ts";
import { choosePassword } from "./passwords.ts";

const adminSchema = z.object({ username: z.string(), created_at: z.string() });

/** `muster admin create`. */
export async function createAdmin(username: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { password, random } = await choosePassword(options.passwordStdin === true);
  await client.call("POST", "/v1/admins", z.undefined(), { username, password });
  if (random) print(`password  ${password}`);
}

/** `muster admin list`. */
export async function listAdmins(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const admins = await client.call("GET", "/v1/admins", z.array(adminSchema));
  if (options.json === true) return print(JSON.stringify(admins, null, 2));
  print(table(["USERNAME", "CREATED"], admins.map((row) => [row.username, row.created_at])));
}

/** `muster admin passwd`: replaces a password, which ends the admin's sessions. */
export async function setAdminPassword(username: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { password, random } = await choosePassword(options.passwordStdin === true);
  await client.call("PUT", `${pathOf(username)}/password`, z.undefined(), { password });
  if (random) print(`password  ${password}`);
}

/** `muster admin delete`. */
export async function deleteAdmin(username: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", pathOf(username), z.undefined());
}

function pathOf(username: string): string {
  return `/v1/admins/${encodeURIComponent(username)}`;
}
