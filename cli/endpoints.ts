import { join } from "node:path";
import {
  type Address,
  DataFolder,
  DataFolderError,
  urlOf,
} from "../services/operation/config/mod.ts";

/** The file in the data folder with the bound addresses. */
const FILE = "endpoints.json";

/**
 * The URLs of a running server's listeners. A server without IRC, or without TLS for it, lacks
 * those.
 */
export interface Endpoints {
  readonly api: string;
  readonly mcp: string;
  /** The web pages, for browsers on this machine: agents are not told. */
  readonly pages?: string;
  readonly irc?: string;
  readonly ircs?: string;
  readonly irc_websocket?: string;
  readonly irc_websocket_tls?: string;
}

/** The addresses of the parts; null for those that do not listen. */
export interface BoundAddresses {
  readonly api: Address;
  readonly mcp: Address;
  readonly irc: Address | null;
  readonly ircs: Address | null;
  readonly ircWebSocket: Address | null;
  readonly ircWebSocketTls: Address | null;
}

/** Writes the addresses of the listeners to a file, for commands that must find a port 0. */
export function writeEndpoints(
  folder: string,
  { api, mcp, irc, ircs, ircWebSocket, ircWebSocketTls }: BoundAddresses,
  scheme: "http" | "https",
  pages: string,
): void {
  const endpoints: Endpoints = {
    api: urlOf(scheme, api),
    mcp: `${urlOf(scheme, mcp)}/mcp`,
    pages,
    ...(irc === null ? {} : { irc: urlOf("irc", irc) }),
    ...(ircs === null ? {} : { ircs: urlOf("ircs", ircs) }),
    ...(ircWebSocket === null ? {} : { irc_websocket: urlOf("ws", ircWebSocket) }),
    ...(ircWebSocketTls === null ? {} : { irc_websocket_tls: urlOf("wss", ircWebSocketTls) }),
  };
  const path = join(folder, FILE);
  Deno.writeTextFileSync(`${path}.new`, `${JSON.stringify(endpoints, null, 2)}\n`);
  Deno.renameSync(`${path}.new`, path);
}

/** Removes the file of a server that has ended. */
export function removeEndpoints(folder: string): void {
  try {
    Deno.removeSync(join(folder, FILE));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Whether a process uses the data folder. */
export function isHeld(folder: string): boolean {
  try {
    DataFolder.check(folder);
    return false;
  } catch (error) {
    if (error instanceof DataFolderError) return error.isInUse;
    throw error;
  }
}

/** @returns null if the file is missing, or not in this form */
export async function readEndpoints(folder: string): Promise<Endpoints | null> {
  try {
    const read: unknown = JSON.parse(await Deno.readTextFile(join(folder, FILE)));
    return isEndpoints(read) ? read : null;
  } catch {
    return null;
  }
}

function isEndpoints(value: unknown): value is Endpoints {
  if (typeof value !== "object" || value === null || !("api" in value && "mcp" in value)) {
    return false;
  }
  return Object.values(value).every((url) => typeof url === "string");
}
