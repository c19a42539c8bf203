import { z } from "zod";
import { ApiClient, Refused } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { checkDays, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printError, printJson } from "./output.ts";

interface AddOptions extends CommandOptions {
  readonly name?: string;
  readonly scopes?: string;
  readonly days?: number;
}

const tokenSchema = z.object({
  id: z.string(),
  owner: z.string().nullable(),
  name: z.string(),
  scopes: z.array(z.string()),
  project: z.string().nullable(),
  expires_at: z.string().nullable(),
  last_used: z.string().nullable(),
});

const issuedSchema = tokenSchema.extend({ token: z.string() });

const revocationsSchema = z.object({
  events: z.array(z.object({ data: z.looseObject({ id: z.string() }) })),
});

const DAY = 24 * 60 * 60_000;

/** `muster token add`: makes a token for an agent, a person or an admin and prints it, once. */
async function addToken(owner: string, options: AddOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { name = "command line", scopes = "read", days } = options;
  const issued = await client.call("POST", "/v1/tokens", issuedSchema, {
    owner,
    name,
    scopes: scopes.split(",").map((scope) => scope.trim()),
    ...(days === undefined ? {} : { expires_at: new Date(Date.now() + days * DAY).toISOString() }),
  });
  if (options.json === true) return printJson(issued);
  print(`id       ${issued.id}`);
  print(`token    ${issued.token}`);
  print(`scopes   ${issued.scopes.join(" ")}`);
  print(`expires  ${issued.expires_at ?? "never"}`);
  print();
  print("The token is shown only once.");
}

/**
 * `muster token remove`: revokes a token. A token that was already revoked is no error; an unknown
 * id is.
 */
async function removeToken(id: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  try {
    await client.call("DELETE", `/v1/tokens/${encodeURIComponent(id)}`, z.undefined());
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    if (!await wasRevoked(client, id)) throw error;
    printError(`The token ${id} was revoked before`);
  }
}

/** Whether the newest events of the log contain the token's revocation. */
async function wasRevoked(client: ApiClient, id: string): Promise<boolean> {
  const path = "/v1/events?types=token.revoked&limit=1000";
  const { events } = await client.call("GET", path, revocationsSchema);
  return events.some(({ data }) => data.id === id);
}

/** `muster token`: tokens of agents, people and admins, and the API's own. */
export const TOKEN: Group = {
  commands: [
    {
      name: "add",
      aliases: ["create"],
      summary: "make a token for an agent, a person or an admin, and print it once",
      parameters: [{ usage: "<owner>" }],
      options: [
        { flags: "--name <name>", summary: "its name in lists" },
        {
          flags: "--scopes <scopes>",
          summary: "read, write, admin, separated by commas (default: read)",
        },
        {
          flags: "--days <count>",
          summary: "days until it expires (default: until it is removed)",
          parse: checkDays,
        },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: addToken,
    },
    {
      name: "remove",
      aliases: ["revoke", "delete"],
      summary: "revoke a token",
      parameters: [{ usage: "<id>" }],
      options: [URL_OPTION],
      run: removeToken,
    },
  ],
  examples: [
    { line: "token add scout --scopes read,write --days 30", purpose: "A token for an agent" },
  ],
};
