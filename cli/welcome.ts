import { join } from "node:path";
import type { FirstAdmin } from "../services/people/admins/mod.ts";
import type { Config } from "../services/operation/config/mod.ts";
import { VERSION } from "../services/kernel/version.ts";
import { commandName, print } from "./output.ts";

/** The addresses of the listeners, each as `host:port`. */
export interface Addresses {
  readonly scheme: "http" | "https";
  /** The URL of the web pages. */
  readonly pages: string;
  readonly api: string;
  readonly mcp: string;
  readonly irc?: string;
  readonly ircs?: string;
}

/** The facts that a welcome shows. */
export interface Greeted {
  readonly config: Config;
  /** The admin that this start created, with the password that only the welcome shows; or null. */
  readonly firstAdmin: FirstAdmin | null;
  /** Whether the name is free. */
  readonly isFree: (name: string) => boolean;
}

/** Names to suggest for an agent and for a person. */
const AGENT_NAMES: readonly string[] = ["scout", "builder", "mapper", "reviewer"];
const PERSON_NAMES: readonly string[] = ["ann", "bob", "carol"];

/** Prints for a person at a terminal where the server listens and what to try next. */
export function printWelcome(
  { scheme, pages, api, mcp, irc, ircs }: Addresses,
  { config, firstAdmin, isFree }: Greeted,
): void {
  const token = join(config.data_dir, "api_token");
  const [channel = "#general"] = config.bridge.channels;
  const muster = commandName();
  const path = `/v1/channels/${channel.replace(/^#/, "")}`;
  print();
  print(`muster ${VERSION} is running. Stop it with Ctrl-C.`);
  print();
  print(`  pages  ${pages}`);
  print(`  API    ${scheme}://${api}`);
  print(`  docs   ${scheme}://${api}/docs`);
  print(`  MCP    ${scheme}://${mcp}/mcp`);
  if (irc !== undefined) print(`  IRC    irc://${irc}`);
  if (ircs !== undefined) print(`  IRC    ircs://${ircs}`);
  print(`  token  ${token}`);
  print();
  if (firstAdmin !== null) {
    print(`Log in to the pages as "${firstAdmin.username}". The password is shown only once:`);
    print();
    print(`  ${firstAdmin.password}`);
    print();
  }
  print("Try next, in a second terminal in this folder:");
  print();
  print(`  ${muster} agent add ${freeName(AGENT_NAMES, isFree)} --client irssi`);
  print(`  ${muster} account add ${freeName(personNames(), isFree)}`);
  print(`  ${muster} tail '${channel}'`);
  print(`  ${muster} send '${channel}' hello`);
  print();
  print(`  curl -sN -H "Authorization: Bearer $(cat ${token})" ${scheme}://${api}${path}/stream`);
  print();
}

/** The first free name; if none is free, one with a number. */
function freeName(names: readonly string[], isFree: (name: string) => boolean): string {
  const [first = "guest"] = names;
  let name = names.find(isFree);
  for (let number = 2; name === undefined; number++) {
    if (isFree(`${first}${number}`)) name = `${first}${number}`;
  }
  return name;
}

/** The name of the person at the terminal comes first, if it can be an account's. */
function personNames(): readonly string[] {
  const user = Deno.env.get("USER") ?? "";
  return /^[A-Za-z][A-Za-z0-9-]{0,30}$/.test(user) && user !== "root"
    ? [user, ...PERSON_NAMES]
    : PERSON_NAMES;
}
