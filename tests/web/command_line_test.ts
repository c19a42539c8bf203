/** What the command line can do, the pages can do: every command has its page and its form. */
import assert from "node:assert/strict";
import { COMMAND_LINE } from "../../cli/mod.ts";
import { type Group, isGroup, type Leaf } from "../../cli/command_line/mod.ts";
import { PAGES } from "../../web/table.ts";

/** The page that does the same, and the name of its form; null if the page only shows it. */
type OnPage = readonly [address: string, action: string | null];

/** Why a command has no page. */
type OnTerminal = string;

const SETTINGS = "/projects/:slug/settings/:part";

/** Every command of the table, without those of `muster fossil`. */
const COMMANDS: Readonly<Record<string, OnPage | OnTerminal>> = {
  "serve": "It starts the program that serves the pages",
  "init": "It makes what the first start of the program needs",
  "status": ["/metrics", null],
  "health": ["/metrics", null],
  "config check": "It checks a configuration before the program starts with it",
  "log show": ["/events", null],
  "log level": ["/settings/configuration", "setLogLevel"],
  "doctor check": ["/settings/doctor", "examine"],
  "doctor stored": "It reads each bound beside the running program; the metrics have its figures",
  "doctor log": "It reads every row beside the running program; the page names the command",

  "backup":
    "It writes files on the machine of the server; a page would send every key over the network",
  "project accept": "It takes a file that the operator has put on the machine of the server",
  "project restore": "The pages of the project were on the node that is lost",
  "restore": "It works while the program that serves the pages is stopped",

  "upgrade": "It asks a new program about the data, before that program serves pages",
  "migrate": "It works while the program that serves the pages is stopped",

  "channel list": ["/channels", null],
  "channel show": ["/channels/:name", null],
  "tail": ["/channels/:name", null],
  "send": ["/channels/:name", "say"],

  "agent add": ["/agents", "register"],
  "agent list": ["/agents", null],
  "agent show": ["/agents/:nick", null],
  "agent claims": ["/agents/:nick", null],
  "agent inbox": ["/agents/:nick", null],
  "agent acknowledge": ["/agents/:nick", "acknowledge"],
  "agent slots": ["/agents/:nick", "slots"],
  "agent remove": ["/agents/:nick", "remove"],
  "agent adopt": ["/agents", "adopt"],
  "agent rotate": ["/agents/:nick", "rotate"],
  "agent revoke": ["/agents/:nick", "revoke"],
  "agent pause": ["/agents/:nick", "pause"],
  "agent resume": ["/agents/:nick", "resume"],
  "agent rate": ["/agents/:nick", "rate"],
  halt: ["/halt", "halt"],
  resume: ["/halt", "resume"],
  needs: ["/", null],
  "ticket create": ["/projects/:slug/tickets/new", "file"],
  "ticket edit": ["/projects/:slug/tickets/:uuid", "edit"],
  "ticket list": ["/projects/:slug/tickets", null],
  "ticket show": ["/projects/:slug/tickets/:uuid", null],
  "question list": ["/questions", null],
  "question show": ["/questions/:id", null],
  "question withdraw": ["/questions/:id", "withdraw"],
  "question answer": ["/questions/:id", "answer"],
  "question ask": "Scripts ask; people on the pages answer",

  "mcp serve": "A client of an agent starts it",
  "mcp install": "It changes files on the machine of the agent; pages show the line to run there",
  "mcp uninstall": "It changes files on the machine of the agent",
  "hook": "A client of an agent starts it",

  "account add": ["/people", "add"],
  "account list": ["/people", null],
  "account passwd": ["/people", "password"],
  "account remove": ["/people", "remove"],
  "admin add": ["/people", "addAdmin"],
  "admin list": ["/people", null],
  "admin passwd": ["/people", "adminPassword"],
  "admin remove": ["/people", "removeAdmin"],

  "token add": ["/settings/tokens", "create"],
  "token list": ["/settings/tokens", null],
  "token remove": ["/settings/tokens", "revoke"],
  "token rotate": ["/settings/tokens", "rotate"],
  "key add": ["/account", "addKey"],
  "key list": ["/account", null],
  "key remove": ["/account", "removeKey"],
  "ban add": ["/settings/bans", "ban"],
  "ban list": ["/settings/bans", null],
  "ban remove": ["/settings/bans", "unban"],
  "client list": ["/settings/clients", null],
  "irc clients": ["/settings/clients", null],
  "irc ban": ["/settings/bans", "ban"],
  "irc unban": ["/settings/bans", "unban"],
  "irc list": ["/settings/bans", null],

  "node list": ["/settings/nodes", null],
  "node drain": ["/settings/nodes", "drain"],
  "node resume": ["/settings/nodes", "resume"],
  "node remove": ["/settings/nodes", "remove"],

  "project create": ["/projects/new", "create"],
  "project list": ["/projects", null],
  "project show": ["/projects/:slug", null],
  "project change": [SETTINGS, "save-general"],
  "project archive": [SETTINGS, "archive"],
  "project unarchive": [SETTINGS, "unarchive"],
  "project remove": [SETTINGS, "remove-project"],
  "project import": [SETTINGS, null],
  "project export": [SETTINGS, null],
  "project move": [SETTINGS, "move"],
  "project member add": [SETTINGS, "set-member"],
  "project member list": [SETTINGS, null],
  "project member remove": [SETTINGS, "remove-member"],
  "project mirror set": [SETTINGS, "set-mirror"],
  "project mirror show": [SETTINGS, null],
  "project mirror run": [SETTINGS, "run-mirror"],
  "project mirror remove": [SETTINGS, "remove-mirror"],
  "project webhook add": [SETTINGS, "add-webhook"],
  "project webhook list": [SETTINGS, null],
  "project webhook remove": [SETTINGS, "remove-webhook"],
  "project webhook ping": [SETTINGS, "ping-webhook"],
  "project webhook deliveries": [SETTINGS, null],
  "project webhook redeliver": [SETTINGS, "redeliver"],
  "check lint": "It judges a file of the machine where it is called",
  "check run": "It runs commands on the machine where it is called",
  "runner create": ["/settings/runners", "create"],
  "runner list": ["/settings/runners", null],
  "runner pause": ["/settings/runners", "pause"],
  "runner resume": ["/settings/runners", "resume"],
  "runner remove": ["/settings/runners", "remove"],
  "runner start": "It runs checks on the machine where it is called",
  "pull": "It writes files of the machine where it is called",
  "push": "It sends files of the machine where it is called",

  "backend add": ["/settings/llm", "create"],
  "backend list": ["/settings/llm", null],
  "backend models": ["/settings/llm", "models"],
  "backend remove": ["/settings/llm", "remove"],
  "llm usage": ["/settings/usage", null],
  "llm calls": "The page adds them up; a script that needs each one asks the API",
  "llm budget list": ["/settings/usage", null],
  "llm budget set": ["/settings/usage", "setBudget"],
  "llm budget remove": ["/settings/usage", "removeBudget"],
  "herald announce": "Programs announce; people on the pages speak in the channel",
  "herald add": ["/settings/webhooks", "addSource"],
  "herald list": ["/settings/webhooks", null],
  "herald remove": ["/settings/webhooks", "removeSource"],
  "policy set": ["/settings/policies", "save"],
  "policy show": ["/settings/policies", null],
  "hash-password": "It makes a line for the configuration file",

  "completion": "It is for the shell",
  "licenses": "It is for the terminal, and the release has it as a file",
  "man": "It is for the terminal",
  "run-worker": "The program starts it for itself",
  "reference": "It writes the documentation",
};

/** The commands below an entry, each with its whole name. */
function* commandsOf(name: string, command: Leaf | Group): Generator<string> {
  if (!isGroup(command)) return yield name;
  for (const inner of command.commands) yield* commandsOf(`${name} ${inner.name}`, inner);
}

async function allCommands(): Promise<string[]> {
  const entries = COMMAND_LINE.sections.flatMap((section) => section.entries)
    .filter(({ name }) => name !== "fossil");
  const names = await Promise.all(
    entries.map(async (entry) => [...commandsOf(entry.name, await entry.load())]),
  );
  return names.flat();
}

Deno.test("every command has a page that does the same, or a reason to need a terminal", async () => {
  assert.deepEqual(Object.keys(COMMANDS).toSorted(), (await allCommands()).toSorted());
});

Deno.test("the pages that stand for commands exist, with their forms", async () => {
  for (const [command, place] of Object.entries(COMMANDS)) {
    if (typeof place === "string") continue;
    const [address, action] = place;
    const loader = PAGES[address];
    assert.ok(loader !== undefined, `muster ${command}: there is no page ${address}`);
    const { page } = await loader();
    if (action === null) continue;
    assert.ok(
      Object.hasOwn(page.actions ?? {}, action),
      `muster ${command}: the page ${address} has no form "${action}"`,
    );
  }
});
