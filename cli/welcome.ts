import { join } from "node:path";
import type { FirstAdmin } from "../services/admins/mod.ts";
import type { Config } from "../services/config/mod.ts";
import { VERSION } from "../services/version.ts";
import { commandName, print } from "./output.ts";

/** Where the parts listen, each as `host:port`. */
export interface Addresses {
  readonly scheme: "http" | "https";
  readonly api: string;
  readonly mcp: string;
  readonly irc?: string;
  readonly ircs?: string;
}

/**
 * Tells a person at a terminal what runs where and what to try next.
 *
 * @param firstAdmin the admin that this start made, whose password is told here and nowhere else
 */
export function printWelcome(
  { scheme, api, mcp, irc, ircs }: Addresses,
  config: Config,
  firstAdmin: FirstAdmin | null,
): void {
  const token = join(config.data_dir, "api_token");
  const [channel = "#general"] = config.bridge.channels;
  const muster = commandName();
  const path = `/v1/channels/${channel.replace(/^#/, "")}`;
  print();
  print(`muster ${VERSION} is running. Stop it with Ctrl-C.`);
  print();
  print(`  API    ${scheme}://${api}`);
  print(`  MCP    ${scheme}://${mcp}/mcp`);
  if (irc !== undefined) print(`  IRC    irc://${irc}`);
  if (ircs !== undefined) print(`  IRC    ircs://${ircs}`);
  print(`  token  ${token}`);
  print();
  if (firstAdmin !== null) {
    print(`The admin "${firstAdmin.username}" has this password, which is shown this once:`);
    print();
    print(`  ${firstAdmin.password}`);
    print();
  }
  print("Try next, in a second terminal in this folder:");
  print();
  print(`  ${muster} agent register scout --client irssi`);
  print(`  ${muster} account add YOUR-NAME`);
  print(`  ${muster} tail '${channel}'`);
  print(`  ${muster} send '${channel}' hello`);
  print();
  print(`  curl -sN "${scheme}://${api}${path}/stream?token=$(cat ${token})"`);
  print();
}
