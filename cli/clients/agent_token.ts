/** The token with which a client acts as an agent, in a file of its own. */
import { dirname, join } from "node:path";
import { z } from "zod";
import { ApiClient, Refused } from "../client.ts";
import type { CommandOptions } from "../options.ts";
import { CommandFailed } from "../output.ts";
import { replaceFile } from "./config_file.ts";

/** Tokens are for their owner's eyes. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

const issuedSchema = z.looseObject({ id: z.string(), token: z.string() });

/** Whose token is wanted. */
export interface TokenRequest {
  readonly nick: string;
  /** The file for the token. */
  readonly path: string;
  /** The token's name in lists. */
  readonly name: string;
  /** The channels of an agent that does not exist yet. */
  readonly channels: readonly string[] | undefined;
  /** A token that the person gave; null to issue one. */
  readonly given: string | null;
}

/**
 * Where the token of an agent on one server is kept.
 *
 * @param home the person's home folder
 * @param url the server's API
 */
export function tokenPath(home: string, nick: string, url: string): string {
  const folder = Deno.env.get("XDG_CONFIG_HOME") ?? join(home, ".config");
  const { host } = new URL(url);
  const name = `${nick.toLowerCase()}@${host}`.replaceAll(/[^\w.@-]/g, "_");
  return join(folder, "muster", "tokens", name);
}

/**
 * Sees to it that the file contains a valid token of the agent. A token that still works stays.
 * Otherwise the operator issues one, and registers the agent if it does not exist.
 *
 * @returns sentences about what was done
 * @throws CommandFailed if the given token is not the agent's, or none can be issued
 */
export async function ensureToken(
  request: TokenRequest,
  options: CommandOptions,
): Promise<string[]> {
  const { nick, path, given } = request;
  if (given !== null) {
    if (!await isTokenOf(nick, given, options)) {
      throw new CommandFailed(`The token on standard input is not one of the agent "${nick}"`);
    }
    await writeToken(path, given);
    return [`The token is in ${path}`];
  }
  const kept = await readToken(path);
  if (kept !== null && await isTokenOf(nick, kept, options)) return [];
  const operator = await ApiClient.connect(options);
  const registered = await registerIfMissing(operator, request);
  const issued = await operator.call("POST", "/v1/tokens", issuedSchema, {
    owner: nick,
    name: request.name,
    scopes: ["read", "write"],
  });
  await writeToken(path, issued.token);
  return [...registered, `The token ${issued.id} of "${nick}" is in ${path}`];
}

/** The token in a file; null if there is none. */
async function readToken(path: string): Promise<string | null> {
  try {
    return (await Deno.readTextFile(path)).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new CommandFailed(`The token at ${path} cannot be read`);
  }
}

/** Whether a token opens the agent's inbox. Reads no message: one that is read is not shown again. */
async function isTokenOf(nick: string, token: string, options: CommandOptions): Promise<boolean> {
  const client = await ApiClient.connect(options, { token });
  try {
    await client.call(
      "GET",
      `/v1/agents/${encodeURIComponent(nick)}/summary`,
      z.unknown(),
    );
    return true;
  } catch (error) {
    if (error instanceof Refused && [401, 403, 404].includes(error.status)) return false;
    throw error;
  }
}

async function registerIfMissing(
  operator: ApiClient,
  { nick, channels }: TokenRequest,
): Promise<string[]> {
  const path = `/v1/agents/${encodeURIComponent(nick)}`;
  try {
    await operator.call("GET", path, z.unknown());
    return [];
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
  }
  await operator.call("POST", "/v1/agents/register", z.unknown(), {
    nick,
    ...channels === undefined ? {} : { channels },
  });
  return [
    `Registered the agent "${nick}". It is a member of no project yet: ` +
    `"muster project member add PROJECT ${nick} write" lets it work in one`,
  ];
}

async function writeToken(path: string, token: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  await replaceFile(path, `${token}\n`, FILE_MODE);
}
