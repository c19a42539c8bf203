import { z } from "zod";
import { ApiClient } from "./client.ts";
import { IRC_CLIENTS, loginLines } from "./login_lines.ts";
import type { CommandOptions } from "./options.ts";
import { print, table } from "./output.ts";
import { choosePassword, randomPassword, readPassword } from "./passwords.ts";

const accountSchema = z.object({ account: z.string(), created_at: z.string() });
const createdSchema = z.object({ account: z.string(), server: z.string() });

/** `muster account add`: makes an IRC account for a person and prints how to log in. */
export async function addAccount(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const given = options.passwordStdin === true;
  const password = given ? await readPassword() : randomPassword();
  const created = await client.call("POST", "/v1/irc/accounts", createdSchema, {
    account: name,
    password,
  });
  print(`account   ${created.account}`);
  if (!given) print(`password  ${password}`);
  print(`server    ${created.server}`);
  const login = {
    name: created.account,
    password: given ? null : password,
    server: created.server,
  };
  for (const ircClient of options.client === undefined ? IRC_CLIENTS : [options.client]) {
    print();
    print(loginLines(ircClient, login));
  }
}

/** `muster account list`. */
export async function listAccounts(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const accounts = await client.call("GET", "/v1/irc/accounts", z.array(accountSchema));
  if (options.json === true) return print(JSON.stringify(accounts, null, 2));
  print(table(["ACCOUNT", "CREATED"], accounts.map((row) => [row.account, row.created_at])));
}

/** `muster account passwd`: replaces a password, which closes the account's sessions. */
export async function setAccountPassword(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { password, random } = await choosePassword(options.passwordStdin === true);
  const path = `/v1/irc/accounts/${encodeURIComponent(name)}/password`;
  await client.call("PUT", path, z.undefined(), { password });
  if (random) print(`password  ${password}`);
}

/** `muster account delete`. */
export async function deleteAccount(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", `/v1/irc/accounts/${encodeURIComponent(name)}`, z.undefined());
}
