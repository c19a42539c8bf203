import { z } from "zod";
import { ApiClient } from "./client.ts";
import { IRC_CLIENTS, loginLines } from "./login_lines.ts";
import type { CommandOptions } from "./mod.ts";
import { CommandFailed, print, table } from "./output.ts";

const accountSchema = z.object({ account: z.string(), created_at: z.string() });
const createdSchema = z.object({ account: z.string(), server: z.string() });

/** The longest password that is read, in bytes. */
const MAX_PASSWORD = 1024;

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

/** `muster account delete`. */
export async function deleteAccount(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", `/v1/irc/accounts/${encodeURIComponent(name)}`, z.undefined());
}

/** Reads a password from standard input, up to its first line break. */
export async function readPassword(): Promise<string> {
  const buffer = new Uint8Array(MAX_PASSWORD + 1);
  let length = 0;
  while (length < buffer.length && !buffer.subarray(0, length).includes(0x0a)) {
    const count = await Deno.stdin.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
  }
  const [password = ""] = new TextDecoder().decode(buffer.subarray(0, length)).split(/\r?\n/);
  if (password === "") throw new CommandFailed("There is no password on standard input", 2);
  if (length > MAX_PASSWORD) {
    throw new CommandFailed(`A password has at most ${MAX_PASSWORD} bytes`, 2);
  }
  return password;
}

/** 160 random bits in letters and digits that every client's command line takes as they are. */
function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
