import { z } from "zod";
import { ApiClient } from "./client.ts";
import { IRC_CLIENTS, loginLines, passwordLines } from "../services/people/login_lines.ts";
import type { Group } from "./command_line/mod.ts";
import { CLIENT_OPTION, type CommandOptions, PASSWORD_OPTION, URL_OPTION } from "./options.ts";
import { print } from "./output.ts";
import { readSettings } from "./settings.ts";
import { choosePassword, type PasswordOptions, randomPassword, readPassword } from "./passwords.ts";

interface LoginOptions extends CommandOptions, PasswordOptions {
  readonly client?: string;
}

const createdSchema = z.object({ account: z.string(), server: z.string() });

/** `muster account add`: creates an IRC account for a person and prints how to log in. */
async function addAccount(name: string, options: LoginOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const config = await readSettings(options);
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
    channels: config.bridge.channels,
  };
  printForClients(options, (ircClient) => loginLines(ircClient, login));
}

/** Prints the lines for an IRC client, or for each of them if the options name none. */
function printForClients({ client }: LoginOptions, linesOf: (client: string) => string): void {
  for (const ircClient of client === undefined ? IRC_CLIENTS : [client]) {
    print();
    print(linesOf(ircClient));
  }
}

/**
 * `muster account passwd`: replaces a password, which closes the account's sessions, and prints what
 * changes in an IRC client.
 */
async function setAccountPassword(name: string, options: LoginOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { password, random } = await choosePassword(options.passwordStdin === true);
  const path = `/v1/irc/accounts/${encodeURIComponent(name)}/password`;
  await client.call("PUT", path, z.undefined(), { password });
  print(`account   ${name}`);
  if (random) print(`password  ${password}`);
  printForClients(options, (ircClient) => passwordLines(ircClient, random ? password : null));
}

/** `muster account`: the IRC accounts of people. */
export const ACCOUNT: Group = {
  commands: [
    {
      name: "add",
      summary: "make an account, and print how to log in with an IRC client",
      parameters: [{ usage: "<name>" }],
      options: [
        {
          flags: "--password-stdin",
          summary: "read the password from standard input (default: a random one)",
        },
        CLIENT_OPTION,
        URL_OPTION,
      ],
      run: addAccount,
    },
    {
      name: "passwd",
      summary: "replace a password, close the account's sessions, and print what its clients need",
      parameters: [{ usage: "<name>" }],
      options: [PASSWORD_OPTION, CLIENT_OPTION, URL_OPTION],
      run: setAccountPassword,
    },
  ],
  examples: [
    { line: "account add ann --client irssi", purpose: "Make an account for Ann, who uses irssi" },
    { line: "account passwd ann", purpose: "Give her another password" },
  ],
};
