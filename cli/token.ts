import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { print, table } from "./output.ts";

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

const DAY = 24 * 60 * 60_000;

/** `muster token create`: makes a token for an agent or an admin and prints it, once. */
export async function createToken(owner: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { name = "command line", scopes = "read", days } = options;
  const issued = await client.call("POST", "/v1/tokens", issuedSchema, {
    owner,
    name,
    scopes: scopes.split(",").map((scope) => scope.trim()),
    ...(days === undefined ? {} : { expires_at: new Date(Date.now() + days * DAY).toISOString() }),
  });
  if (options.json === true) return print(JSON.stringify(issued, null, 2));
  print(`id       ${issued.id}`);
  print(`token    ${issued.token}`);
  print(`scopes   ${issued.scopes.join(" ")}`);
  print(`expires  ${issued.expires_at ?? "never"}`);
  print();
  print("The token is shown this once.");
}

/** `muster token list`. */
export async function listTokens(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const tokens = await client.call("GET", "/v1/tokens", z.array(tokenSchema));
  if (options.json === true) return print(JSON.stringify(tokens, null, 2));
  const rows = tokens.map((token) => [
    token.id,
    token.owner ?? token.project ?? "",
    token.name,
    token.scopes.join(" "),
    token.expires_at ?? "never",
    token.last_used ?? "never",
  ]);
  print(table(["ID", "OWNER", "NAME", "SCOPES", "EXPIRES", "LAST USED"], rows));
}

/** `muster token revoke`. */
export async function revokeToken(id: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", `/v1/tokens/${encodeURIComponent(id)}`, z.undefined());
}

/** `muster token rotate`: replaces the operator's API token and prints the new one. */
export async function rotateToken(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const schema = z.object({ token: z.string() });
  const { token } = await client.call("POST", "/v1/tokens/api/rotate", schema);
  print(options.json === true ? JSON.stringify({ token }) : token);
}
