/** `muster mcp install` and `muster mcp uninstall`. */
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiClient } from "../client.ts";
import { readEndpoints } from "../endpoints.ts";
import type { CommandOptions } from "../options.ts";
import { CommandFailed, print, printError, printText, reportDone } from "../output.ts";
import { readPassword } from "../passwords.ts";
import { readSettings } from "../settings.ts";
import { ensureToken, tokenPath } from "./agent_token.ts";
import { diffOf, type FileChange, type FileEdit, planChange, writeChange } from "./config_file.ts";
import {
  type Client,
  type Launch,
  type Scope,
  type Surroundings,
  TOKEN_VARIABLE,
} from "./client.ts";
import { clientOf } from "./definitions.ts";
import { tokenCommand } from "./gateway.ts";
import { addHooks, removeHooks } from "./hook_entries.ts";

/** A person's own files, and those that a project's members share. */
const MODES: Readonly<Record<Scope, number>> = { user: 0o600, project: 0o644 };

/** Milliseconds that a hook waits for a server on another machine. */
const REMOTE_TIMEOUT = 1500;

/** The options of both commands. */
interface EditOptions extends CommandOptions {
  readonly name: string;
  readonly project?: boolean;
  readonly yes?: boolean;
}

interface InstallOptions extends EditOptions {
  readonly agent?: string;
  readonly channels?: string;
  readonly tokenStdin?: boolean;
  readonly http?: boolean;
  readonly mcpUrl?: string;
  readonly hooks?: boolean;
  readonly allow?: boolean;
  readonly gateway?: boolean;
  readonly print?: boolean;
}

/** What to install. */
interface Installation {
  readonly client: Client;
  /** The file with the client's entries. */
  readonly file: string;
  readonly clientName: string;
  readonly scope: Scope;
  readonly surroundings: Surroundings;
  /** The server's API. */
  readonly url: string;
  readonly launch: Launch;
  /** Null in a project's file: there each person brings a token. */
  readonly agent: { readonly nick: string; readonly tokenPath: string } | null;
}

/** `muster mcp install`: writes a client's entry for muster, and what else the options say. */
export async function install(clientName: string, options: InstallOptions): Promise<void> {
  const installation = await installationOf(clientName, options);
  const { client, scope, launch, file } = installation;
  if (options.print === true) {
    printError(`In ${file}:`);
    return print(client.show(options.name, launch));
  }
  const edits = [{ path: file, mode: MODES[scope], apply: client.add(options.name, launch) }];
  if (options.allow === true) edits.push(permissionEdit(installation, options));
  if (options.gateway === true) edits.push(gatewayEdit(installation));
  const hasHooks = await wantsHooks(installation, options);
  if (hasHooks) edits.push(hookEdit(installation));
  const given = options.tokenStdin === true ? await readPassword() : null;
  const changes = await show(edits);
  if (changes.length > 0) confirm(options, "Write this?");
  const notes = await provideToken(installation, options, given);
  await write(changes);
  reportDone(() => {
    for (const note of notes) print(note);
    print(
      changes.length === 0
        ? `${client.title} already has this entry`
        : `${client.title} finds muster when it starts again`,
    );
    if (options.allow === true) tellOfPermissions(installation);
    if (options.gateway === true) {
      print('Its models come from the server\'s backends: "muster backend list" shows them');
    }
    if (hasHooks && clientName === "codex") {
      print("Codex runs new hooks only after you have looked at them with its command /hooks");
    }
    if (installation.agent === null || launch.kind === "http") tellOfToken(installation);
  });
}

/** `muster mcp uninstall`: removes the entry and all that was written with it. */
export async function uninstall(clientName: string, options: EditOptions): Promise<void> {
  const client = clientOf(clientName);
  const scope = scopeOf(options);
  const surroundings = surroundingsOf();
  const mode = MODES[scope];
  const edits: FileEdit[] = [
    {
      path: fileOf(client, scope, surroundings),
      mode,
      apply: client.remove(options.name),
    },
  ];
  const { permissions } = client;
  if (typeof permissions !== "string") {
    const path = permissions.file(scope, surroundings, options.name);
    const apply = permissions.withdraw(options.name);
    if (path !== null) edits.push({ path, mode, apply });
  }
  const { gateway } = client;
  if (gateway !== undefined && scope === "user") {
    edits.push({ path: gateway.file(surroundings), mode, apply: gateway.remove });
  }
  if (client.hooks !== null) {
    const path = client.hooks.file(scope, surroundings);
    for (const mark of [markOf(clientName), waitingMarkOf(clientName)]) {
      edits.push({ path, mode, apply: removeHooks(mark) });
    }
  }
  const changes = await show(edits);
  if (changes.length === 0) return print(`${client.title} has no entry "${options.name}"`);
  confirm(options, "Remove this?");
  await write(changes);
  reportDone(() =>
    print('The token stays valid: "muster token list" shows it, "muster token remove" revokes it')
  );
}

async function installationOf(clientName: string, options: InstallOptions): Promise<Installation> {
  const client = clientOf(clientName);
  const scope = scopeOf(options);
  const surroundings = surroundingsOf();
  const file = fileOf(client, scope, surroundings);
  const { url } = await ApiClient.connect(options, { token: false });
  const nick = options.agent;
  if (scope === "project" && (nick !== undefined || options.tokenStdin === true)) {
    throw new CommandFailed("A project's file names no agent: leave out --agent", 2);
  }
  if (scope === "user" && nick === undefined) {
    throw new CommandFailed(
      "--agent <nick> is missing: it names the agent that the client acts as",
      2,
    );
  }
  const agent = nick === undefined
    ? null
    : { nick, tokenPath: tokenPath(surroundings.home, nick, url) };
  const tools = await toolsOf(url, options);
  const sets = client.searchesTools === true ? EVERY_TOOL : [];
  const launch = options.http === true
    ? { kind: "http" as const, url: listing(tools, sets) }
    : stdioLaunch(tools, agent?.tokenPath ?? null, sets);
  return { client, clientName, file, scope, surroundings, url, launch, agent };
}

/** A client whose model searches tools lists all of them. */
const EVERY_TOOL = ["all"] as const;

/** The URL at which a server lists sets of tools; without one, what it chooses. */
function listing(url: string, sets: readonly string[]): string {
  const listed = new URL(url);
  if (sets.length > 0 && !listed.searchParams.has("tools")) {
    listed.searchParams.set("tools", sets.join());
  }
  return sets.length > 0 ? listed.href : url;
}

function stdioLaunch(url: string, path: string | null, sets: readonly string[]): Launch {
  const [command, ...args] = musterWords(path === null);
  const token = path === null ? { kind: "environment" as const } : { kind: "file" as const, path };
  const listed = sets.length > 0 ? ["--tools", sets.join()] : [];
  return { kind: "stdio", command, args: [...args, "mcp", ...listed], url, token };
}

/**
 * The URL of a server's tools: the given one, that of the data folder's server, or `/mcp` below the
 * API, as behind a proxy.
 */
async function toolsOf(url: string, options: InstallOptions): Promise<string> {
  const { mcpUrl } = options;
  if (mcpUrl !== undefined) {
    if (URL.canParse(mcpUrl)) return mcpUrl;
    throw new CommandFailed(`"${mcpUrl}" is not a URL`, 2);
  }
  const endpoints = await readEndpoints((await readSettings(options)).data_dir);
  if (endpoints?.api === url) return endpoints.mcp;
  const guess = `${url}/mcp`;
  if (await isMcp(guess)) return guess;
  throw new CommandFailed(`The tools of ${url} are not at ${guess}: give --mcp-url <url>`, 2);
}

/** Whether an MCP server answers: it refuses the method GET. */
async function isMcp(url: string): Promise<boolean> {
  const options = { redirect: "manual", signal: AbortSignal.timeout(5000) } as const;
  const response = await fetch(url, options).catch(() => {
    throw new CommandFailed(
      `Nothing answers at ${url}: start muster, or give --url <url> or --mcp-url <url>`,
      2,
    );
  });
  await response.body?.cancel();
  return response.status === 405;
}

function scopeOf({ project }: EditOptions): Scope {
  return project === true ? "project" : "user";
}

function fileOf({ title, file }: Client, scope: Scope, surroundings: Surroundings): string {
  const path = file(scope, surroundings);
  if (path !== null) return path;
  throw new CommandFailed(`${title} has no files of a project: leave out --project`, 2);
}

function surroundingsOf(): Surroundings {
  const environment = Deno.env.toObject();
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  if (home === undefined) throw new CommandFailed("The variable HOME is missing");
  const folder = Deno.cwd();
  return { home, folder, repository: repositoryOf(folder), environment, system: Deno.build.os };
}

/**
 * The root of the Git repository that a folder is in; for a linked working tree that of the main one.
 *
 * @returns the folder itself if it is in none
 */
function repositoryOf(folder: string): string {
  for (let root = folder;; root = dirname(root)) {
    const path = join(root, ".git");
    const kind = statOf(path);
    if (kind?.isDirectory === true) return root;
    if (kind?.isFile === true) {
      const [, main] =
        /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\]/.exec(Deno.readTextFileSync(path)) ?? [];
      return main ?? root;
    }
    if (root === dirname(root)) return folder;
  }
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}

/** Whether to register hooks: as the options say, else as the person answers. */
async function wantsHooks(
  installation: Installation,
  options: InstallOptions,
): Promise<boolean> {
  const { client, clientName } = installation;
  if (client.hooks === null) {
    if (options.hooks !== true) return false;
    throw new CommandFailed(
      `${client.title} has no hooks that "muster hook" knows: leave out --hooks`,
      2,
    );
  }
  if (options.hooks !== undefined) return options.hooks;
  if (await findsHooks(installation)) return false;
  if (options.yes === true || !Deno.stdin.isTerminal()) {
    printError(`"muster mcp install ${clientName} --hooks" also shows the agent its inbox`);
    return false;
  }
  return ask(`Show new messages to the agent while it works, with hooks of ${client.title}?`);
}

/** Whether an earlier installation has registered hooks: they stay as they are. */
async function findsHooks(
  { client, clientName, scope, surroundings }: Installation,
): Promise<boolean> {
  if (client.hooks === null) return false;
  const path = client.hooks.file(scope, surroundings);
  const apply = removeHooks(markOf(clientName));
  return await planChange({ path, mode: MODES[scope], apply }) !== null;
}

function permissionEdit(
  { client, scope, surroundings }: Installation,
  { name }: InstallOptions,
): FileEdit {
  const { permissions, title } = client;
  if (typeof permissions === "string") {
    throw new CommandFailed(`--allow does nothing here: ${permissions}`, 2);
  }
  const path = permissions.file(scope, surroundings, name);
  if (path === null) {
    throw new CommandFailed(
      `${title} has no permissions in a project's files: leave out --allow`,
      2,
    );
  }
  return { path, mode: MODES[scope], apply: permissions.allow(name, surroundings) };
}

function tellOfPermissions({ client: { permissions }, surroundings }: Installation): void {
  if (typeof permissions !== "string" && permissions.note !== undefined) {
    print(permissions.note(surroundings));
  }
}

function gatewayEdit({ client, scope, surroundings, url, agent }: Installation): FileEdit {
  const { gateway, title } = client;
  if (gateway === undefined) {
    throw new CommandFailed(
      `muster does not know how ${title} takes its models from elsewhere: leave out --gateway`,
      2,
    );
  }
  if (agent === null) {
    throw new CommandFailed("A project's file holds no token of an agent: leave out --gateway", 2);
  }
  const apply = gateway.add(url, tokenCommand(agent.tokenPath, shellLine));
  return { path: gateway.file(surroundings), mode: MODES[scope], apply };
}

function hookEdit({ client, clientName, scope, surroundings, url, agent }: Installation): FileEdit {
  if (client.hooks === null) throw new TypeError("A client without hooks");
  const { events, timeout, isFlat = false, waiting } = client.hooks;
  const start = [...musterWords(agent === null), "hook", clientName];
  const place = [
    ...["--url", url],
    ...agent === null ? [] : ["--agent", agent.nick, "--token-file", agent.tokenPath],
  ];
  const limit = isLocal(url) ? [] : ["--timeout", String(REMOTE_TIMEOUT)];
  const command = shellLine([...start, ...place, ...limit]);
  const add = addHooks({ events, command, timeout, mark: markOf(clientName), isFlat });
  const addWaiting = waiting === undefined ? (text: string) => text : addHooks({
    ...waiting,
    events: [waiting.event],
    // The client is then the hook's parent, and not a shell that outlives it.
    command: `exec ${shellLine([...start, "--wait", ...place])}`,
    mark: waitingMarkOf(clientName),
  });
  return {
    path: client.hooks.file(scope, surroundings),
    mode: MODES[scope],
    apply: (text) => addWaiting(add(text)),
  };
}

function markOf(clientName: string): string {
  return `hook ${clientName} --url`;
}

function waitingMarkOf(clientName: string): string {
  return `hook ${clientName} --wait`;
}

function isLocal(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

/** Works out the changes and shows them. Edits of the same file build on each other. */
async function show(edits: readonly FileEdit[]): Promise<FileChange[]> {
  const byPath = Map.groupBy(edits, ({ path }) => path);
  const changes: FileChange[] = [];
  for (const [path, [first, ...more]] of byPath) {
    if (first === undefined) continue;
    const apply = (text: string) => more.reduce((all, edit) => edit.apply(all), first.apply(text));
    const change = await planChange({ path, mode: first.mode, apply });
    if (change !== null) changes.push(change);
  }
  for (const change of changes) printText(`${diffOf(change)}\n`);
  return changes;
}

async function write(changes: readonly FileChange[]): Promise<void> {
  for (const change of changes) {
    const copy = await writeChange(change, new Date());
    print(copy === null ? `Wrote ${change.path}` : `Wrote ${change.path}; the old file is ${copy}`);
  }
}

function confirm({ yes }: EditOptions, question: string): void {
  if (yes === true) return;
  if (!Deno.stdin.isTerminal()) {
    throw new CommandFailed("Nothing was written: add --yes to write it without a question", 2);
  }
  if (!ask(question)) throw new CommandFailed("Nothing was written");
}

function ask(question: string): boolean {
  return /^y(es)?$/i.test((prompt(`${question} [y/N]`) ?? "").trim());
}

async function provideToken(
  { client, agent }: Installation,
  options: InstallOptions,
  given: string | null,
): Promise<string[]> {
  if (agent === null) return [];
  const channels = options.channels?.split(",").map((name) => name.trim()).filter(Boolean);
  return await ensureToken(
    {
      nick: agent.nick,
      path: agent.tokenPath,
      name: `${client.title} on ${hostname()}`,
      channels,
      given,
    },
    options,
  );
}

/** How the client gets a token that its file does not contain. */
function tellOfToken({ clientName, agent }: Installation): void {
  if (clientName === "vscode") {
    return print(
      agent === null
        ? "Visual Studio Code asks for the token of your agent when it starts the server"
        : `Visual Studio Code asks for the token: paste the line in ${agent.tokenPath}`,
    );
  }
  print("The client's file contains no token. Set the variable before you start the client:");
  print(
    agent === null
      ? `  export ${TOKEN_VARIABLE}=TOKEN   # of your agent: muster token add NICK --scopes read,write`
      : `  export ${TOKEN_VARIABLE}="$(cat ${shellLine([agent.tokenPath])})"`,
  );
}

/** How a client starts muster. */

/**
 * The words that run this muster: the executable, or Deno with the tree. A project's file is read on
 * other machines, so there it is just the name.
 */
function musterWords(isShared: boolean): readonly [string, ...string[]] {
  if (isShared) return ["muster"];
  if (Deno.build.standalone) return [Deno.execPath()];
  const main = fileURLToPath(Deno.mainModule);
  const config = `--config=${join(dirname(main), "deno.json")}`;
  const deno = denoWords(Deno.execPath());
  return [...deno, "run", "--quiet", config, "--permission-set", main];
}

/**
 * The words that run this Deno in a year, too: npx keeps its programs in a cache that `npm` may empty,
 * so npx gets the version to run.
 *
 * @param executable the path of Deno's file
 */
export function denoWords(executable: string): readonly [string, ...string[]] {
  const isCached = executable.split(/[/\\]/).includes("_npx");
  return isCached ? ["npx", "--yes", `deno@${Deno.version.deno}`] : [executable];
}

/** A command line for a POSIX shell. */
function shellLine(words: readonly string[]): string {
  return words.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  ).join(" ");
}
