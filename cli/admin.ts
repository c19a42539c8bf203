import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, PASSWORD_OPTION, URL_OPTION } from "./options.ts";
import { print } from "./output.ts";
import { choosePassword, type PasswordOptions } from "./passwords.ts";

type AdminPasswordOptions = CommandOptions & PasswordOptions;

/** `muster admin add`. */
async function addAdmin(username: string, options: AdminPasswordOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { password, random } = await choosePassword(options.passwordStdin === true);
  await client.call("POST", "/v1/admins", z.undefined(), { username, password });
  if (random) print(`password  ${password}`);
}

/** `muster admin passwd`: replaces a password, which ends the admin's sessions. */
async function setAdminPassword(username: string, options: AdminPasswordOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { password, random } = await choosePassword(options.passwordStdin === true);
  await client.call("PUT", `${pathOf(username)}/password`, z.undefined(), { password });
  if (random) print(`password  ${password}`);
}

function pathOf(username: string): string {
  return `/v1/admins/${encodeURIComponent(username)}`;
}

/** `muster admin`: the admins of this server. */
export const ADMIN: Group = {
  commands: [
    {
      name: "add",
      aliases: ["create"],
      summary: "make an admin",
      parameters: [{ usage: "<name>" }],
      options: [PASSWORD_OPTION, URL_OPTION],
      notes: ["On a terminal, the command asks for the password. Otherwise it makes a random one."],
      run: addAdmin,
    },
    {
      name: "passwd",
      summary: "replace an admin's password and end its sessions",
      parameters: [{ usage: "<name>" }],
      options: [PASSWORD_OPTION, URL_OPTION],
      run: setAdminPassword,
    },
  ],
  examples: [
    { line: "admin passwd admin", purpose: "Set the password of the first admin" },
    { line: "admin add ann", purpose: "Make another admin" },
  ],
};
