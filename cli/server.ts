import { parseAddress } from "../services/operation/config/mod.ts";
import { InvalidValue, lazy, type Leaf } from "./command_line/mod.ts";
import { JSON_OPTION, URL_OPTION } from "./options.ts";

/** `muster serve`: runs the server. */
export const SERVE: Leaf = {
  options: [
    {
      flags: "--api-addr <host:port>",
      summary: "address of the REST API",
      parse: checkAddress,
    },
    {
      flags: "--mcp-addr <host:port>",
      summary: "address of the MCP server",
      parse: checkAddress,
    },
    {
      flags: "--irc-listen <host:port>",
      summary: "address of the IRC server",
      parse: checkAddress,
    },
    {
      flags: "--log-level <level>",
      summary: "least severe level to log",
      choices: ["debug", "info", "warning", "error"],
    },
  ],
  examples: [
    { line: "serve --api-addr 127.0.0.1:9090", purpose: "Listen on another port" },
  ],
  run: lazy(async () => (await import("./serve.ts")).serve),
};

/** `muster health`: whether every part of a running server is up. */
export const HEALTH: Leaf = {
  options: [URL_OPTION],
  run: lazy(async () => (await import("./server_state.ts")).health),
};

/** `muster status`: the state of a running server. */
export const STATUS: Leaf = {
  options: [JSON_OPTION, URL_OPTION],
  run: lazy(async () => (await import("./server_state.ts")).status),
};

/** Parses `host:port`. */
function checkAddress(text: string): string {
  if (parseAddress(text) !== null) return text;
  throw new InvalidValue('be "host:port", or ":port" for every interface');
}
