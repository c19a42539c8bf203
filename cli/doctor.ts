import { chooseServeConnection, WITHOUT_SERVER } from "../http/mod.ts";
import { lookup } from "node:dns/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Config, parseAddress } from "../services/operation/config/mod.ts";
import { DatabaseError, readPostgresSettings } from "../services/engines/database/mod.ts";
import {
  examineData,
  type Finding,
  findingsOf,
  linesOf,
  reasonOf,
  surveyData,
} from "../services/operation/doctor/mod.ts";
import { type LogReport, verifyLog, verifyPostgresLog } from "../services/engines/events/mod.ts";
import { readKeyFile, SecretFileError } from "../services/people/identity/mod.ts";
import { amount } from "../services/kernel/words.ts";
import { VERSION } from "../services/kernel/version.ts";
import { foldersOf } from "./backup.ts";
import { faultOfAuthorities } from "./certificates.ts";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { findUnreadable } from "./config.ts";
import { type Endpoints, isHeld, readEndpoints } from "./endpoints.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { type CommandOptions, JSON_OPTION } from "./options.ts";
import { CommandFailed, print, printJson, visible } from "./output.ts";
import { findClearText, findListenProblems, listenersOf } from "./preflight.ts";
import { readSettings, type SettingsOptions } from "./settings.ts";

/**
 * `muster doctor log`: verifies the event log in the data folder, with or without a running server.
 * Prints its findings, and fails if there are any.
 */
async function checkLog(options: CommandOptions): Promise<void> {
  const report = await verify(await readSettings(options));
  if (options.json === true) printJson(report);
  else printReport(report);
  if (report.found > 0) throw new CommandFailed("The event log is damaged or was changed");
}

async function verify({ data_dir: folder, database }: Config): Promise<LogReport> {
  try {
    const key = await readKeyFile(join(folder, "event_key"));
    const postgres = await readPostgresSettings(database);
    return postgres === null
      ? verifyLog(join(folder, "muster.db"), key)
      : await verifyPostgresLog(postgres, key);
  } catch (error) {
    const known = error instanceof DatabaseError || error instanceof SecretFileError;
    throw known ? new CommandFailed(error.message) : error;
  }
}

function printReport({ events, first, last, hash, findings, found }: LogReport): void {
  for (const finding of findings) print(visible(finding));
  if (found > findings.length) print(`... and ${found - findings.length} more`);
  print(`events  ${events}`);
  if (events > 0) print(`from    ${first}`);
  if (events > 0) print(`to      ${last}`);
  print(`hash    ${visible(hash)}`);
}

interface CheckOptions extends SettingsOptions {
  readonly quick?: boolean;
}

/**
 * `muster doctor`: checks configuration, data and machine, with or without a running server. Prints
 * its findings, and fails if one of them is an error or a warning.
 */
async function checkAll(options: CheckOptions): Promise<void> {
  const findings = await examine(options);
  const bad = findings.filter(({ level }) => level !== "note");
  if (options.json === true) printJson({ healthy: bad.length === 0, findings });
  else {
    for (const { level, check, message, fix } of findings) {
      print(visible(`${level}: ${check}: ${message}; ${fix}`));
    }
    if (bad.length === 0) print("Everything is in order");
  }
  if (bad.length > 0) throw new CommandFailed(amount(bad.length, "finding"));
}

async function examine(options: CheckOptions): Promise<Finding[]> {
  let config: Config;
  try {
    config = await readSettings(options);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    const found = findingsOf("configuration");
    return error.message.split("\n").map((line) => found.error(line, "correct the configuration"));
  }
  return await examineConfigured(config, options);
}

/** What `muster doctor` finds wrong with this configuration, its data and the machine. */
export async function examineConfigured(config: Config, options: CheckOptions): Promise<Finding[]> {
  const isRunning = isHeld(config.data_dir);
  using progress = new TerminalProgress();
  return [
    ...checkConfiguration(config),
    ...await checkRuntime(),
    ...await checkAddresses(options, config, isRunning),
    ...await checkNodes(options, config, isRunning),
    ...await examineData({
      folders: foldersOf(config),
      postgres: await readPostgresSettings(config.database),
      node: config.node.name || null,
      tls: config.tls,
      bounds: config,
      keepsHistory: config.irc.mode === "embedded" && config.irc.history.persist,
      isRunning,
      quick: options.quick === true,
      version: VERSION,
      now: Date.now(),
      onProgress: (what, done, total) => progress.show(what, done, total),
    }),
  ];
}

/** Checks that the runtime serves HTTP on connections that the program accepts itself. */
async function checkRuntime(): Promise<Finding[]> {
  const { isOwn } = await chooseServeConnection();
  if (isOwn) return [];
  const fix = "use a release of muster, which has its runtime with it, or Deno 2.4 to 2.9";
  return [findingsOf("runtime").warning(WITHOUT_SERVER, fix)];
}

function checkConfiguration(config: Config): Finding[] {
  const found = findingsOf("configuration");
  const authorities = faultOfAuthorities();
  return [
    ...authorities === null
      ? []
      : [found.error(authorities, "let it name a PEM file of certificates to trust, or unset it")],
    ...findUnreadable(config).map(({ message }) =>
      found.error(message, "name a file that this user can read")
    ),
    ...findClearText(config).map(({ message, key, fix }) =>
      found.warning(`${key}: ${message}`, fix)
    ),
  ];
}

/** `muster doctor stored`: shows what grows, and what bounds it. */
async function showStored(options: CommandOptions): Promise<void> {
  const config = await readSettings(options);
  const stored = await surveyData({
    folders: foldersOf(config),
    postgres: await readPostgresSettings(config.database),
    bounds: config,
    isRunning: isHeld(config.data_dir),
    version: VERSION,
    now: Date.now(),
  });
  if (stored === null) {
    throw new CommandFailed("The app database cannot be read: muster doctor says why");
  }
  if (options.json === true) return printJson(stored);
  for (const line of linesOf(stored)) print(visible(line));
}

/** `muster doctor`: looks for damage. */
export const DOCTOR: Group = {
  default: "check",
  commands: [
    {
      name: "check",
      summary: "check configuration, data and machine (the default)",
      options: [
        { flags: "--quick", summary: "leave out what reads every event and every artifact" },
        JSON_OPTION,
      ],
      run: checkAll,
    },
    {
      name: "log",
      summary: "verify the event log in the data folder, also while a server runs",
      options: [JSON_OPTION],
      run: checkLog,
    },
    {
      name: "stored",
      summary: "show what grows: rows with a retention, removed projects, and quotas",
      options: [JSON_OPTION],
      run: showStored,
    },
  ],
  examples: [
    { line: "doctor", purpose: "Check everything" },
    { line: "doctor --quick --json", purpose: "Check in seconds, for a monitor" },
  ],
  notes: [
    "It checks configuration, permissions, keys, databases, event log, history, repositories with " +
    "their derived tables, quotas, free space, clock, versions, the runtime, addresses, nodes, " +
    "certificate, and what interrupted work has left. Each finding says how to fix it. It changes nothing; repositories " +
    "are examined as copies in the temporary folder (TMPDIR).",
    "It exits with 1 if there is an error or a warning; notes need nothing.",
  ],
};

/** How long a connection may take, in milliseconds. */
const CONNECT_TIMEOUT = 5000;

const found = findingsOf("addresses");

/**
 * Checks the addresses: of a running server, whether they answer; otherwise, whether they are free.
 */
async function checkAddresses(
  options: CommandOptions,
  config: Config,
  isRunning: boolean,
): Promise<Finding[]> {
  const ofListeners = isRunning ? await checkRunning(options, config) : checkFree(config);
  return [...ofListeners, ...await checkPublicAddress(config, isRunning)];
}

function checkFree(config: Config): Finding[] {
  return findListenProblems(listenersOf(config)).map(({ message, fix }) =>
    found.error(message, fix)
  );
}

async function checkRunning(options: CommandOptions, config: Config): Promise<Finding[]> {
  const endpoints = await readEndpoints(config.data_dir);
  if (endpoints === null) {
    const message = "A muster uses the data folder, but no server has written its addresses";
    return [found.note(message, 'if it is "muster mcp", it needs none')];
  }
  // The pages are where the API is; not every resolver knows their name.
  const { pages: _, ...listeners } = endpoints;
  const answers = await Promise.all([
    checkReady(options, endpoints),
    ...Object.values(listeners).map((url) => url === undefined ? [] : checkConnects(url)),
  ]);
  return answers.flat();
}

async function checkReady(options: CommandOptions, { api }: Endpoints): Promise<Finding[]> {
  try {
    const client = await ApiClient.connect({ ...options, url: api }, { token: false });
    await client.call("GET", "/readyz", z.object({ status: z.string() }));
    return [];
  } catch (error) {
    const fix = "the server's own log says why; muster status shows its state";
    return [found.error(`The server is not ready: ${firstLine(reasonOf(error))}`, fix)];
  }
}

async function checkConnects(url: string): Promise<Finding[]> {
  const { hostname, port, protocol } = new URL(url);
  const fallback = protocol === "https:" ? 443 : 80;
  return await connects(hostname.replace(/^\[|\]$/g, ""), port === "" ? fallback : Number(port))
    ? []
    : [found.error(`Nobody answers at ${url}`, "restart muster: the listener has ended")];
}

async function checkPublicAddress({ irc }: Config, isRunning: boolean): Promise<Finding[]> {
  const address = parseAddress(irc.public_address);
  if (irc.public_address === "" || address === null) return [];
  const { hostname, port } = address;
  const key = `irc.public_address "${irc.public_address}"`;
  try {
    await lookup(hostname);
  } catch {
    const fix = "correct the key, or add the name to the DNS";
    return [found.warning(`The host of ${key} has no address`, fix)];
  }
  if (!isRunning || await connects(hostname, port)) return [];
  return [found.warning(
    `Nobody answers at ${key}, which agents are told`,
    "forward the port in the router or the proxy, open it in the firewall, or correct the key",
  )];
}

async function connects(hostname: string, port: number): Promise<boolean> {
  const connecting = Deno.connect({ hostname, port });
  const timer = Promise.withResolvers<null>();
  const timeout = setTimeout(() => timer.resolve(null), CONNECT_TIMEOUT);
  try {
    const connection = await Promise.race([connecting, timer.promise]);
    connection?.close();
    if (connection === null) connecting.then((late) => late.close(), () => {});
    return connection !== null;
  } catch {
    return false;
  } finally {
    clearTimeout(timeout);
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** How long a node may take to answer, in milliseconds. */
const ANSWER_TIMEOUT = 5000;

const nodeSchema = z.looseObject({
  name: z.string(),
  url: z.string(),
  state: z.string(),
  started_at: z.string(),
  drained_at: z.string().nullable(),
  projects: z.number(),
});

type Node = z.infer<typeof nodeSchema>;

/** What `/readyz` answers: a node that is not ready does not tell which one it is. */
const readinessSchema = z.union([
  z.object({ node: z.object({ started_at: z.string() }) }).transform(({ node }) => node.started_at),
  z.object({ error: z.string() }).transform(() => null),
]);

/**
 * Checks, if this node runs, that the others run too, and that each that runs answers at its
 * `node.url`.
 */
export async function checkNodes(
  options: CommandOptions,
  { node, data_dir: folder }: Config,
  isRunning: boolean,
): Promise<Finding[]> {
  if (node.name === "" || !isRunning) return [];
  const nodes = await readNodes(options, folder);
  const isStopped = ({ state }: Node) => state === "stopped";
  const running = nodes.filter((node) => !isStopped(node));
  return [
    ...(await Promise.all(running.map((node) => checkUrl(node, nodes)))).flat(),
    ...nodes.filter(isStopped).map(findingOfStopped),
  ];
}

/** Tells of a node that was not heard of for seconds. A drained one was probably stopped on purpose. */
function findingOfStopped({ name, drained_at: drainedAt, projects }: Node): Finding {
  const found = findingsOf("nodes");
  const isDrained = drainedAt !== null;
  const make = isDrained && projects === 0 ? found.note : found.warning;
  const state = isDrained ? "stopped, drained, and" : "stopped, and";
  const has = projects === 0
    ? "has no projects"
    : `its ${amount(projects, "project")} ${projects === 1 ? "answers" : "answer"} 503`;
  const start = isDrained
    ? `start it and let it take work again: muster node resume ${name}`
    : "start it";
  const restore = projects === 0
    ? "forget it"
    : "restore each project on another node (muster project restore SLUG --from FILE --on NODE), " +
      "and forget it";
  return make(
    `The node "${name}" is ${state} ${has}`,
    `${start}; if it will not come back, ${restore}: muster node remove ${name}`,
  );
}

/** All nodes; none if this one does not answer, which the check of the addresses tells. */
async function readNodes(options: CommandOptions, folder: string) {
  try {
    const endpoints = await readEndpoints(folder);
    if (endpoints === null) return [];
    const client = await ApiClient.connect({ ...options, url: endpoints.api });
    return await client.call("GET", "/v1/nodes", z.array(nodeSchema));
  } catch {
    return [];
  }
}

async function checkUrl(
  { name, url, started_at: startedAt }: Node,
  nodes: readonly Node[],
): Promise<Finding[]> {
  const found = findingsOf("addresses");
  const fix = `correct node.url in the configuration of "${name}", or let this machine reach it`;
  const answer = readinessSchema.safeParse(await readReadiness(url));
  if (!answer.success) {
    return [found.error(`No node answers at "${url}", the node.url of "${name}"`, fix)];
  }
  if (answer.data === null || answer.data === startedAt) return [];
  const other = nodes.find((node) => node.started_at === answer.data);
  const where = other === undefined ? "another server" : `the node "${other.name}"`;
  const message = `The node.url of "${name}", "${url}", leads to ${where}`;
  return [found.error(message, fix)];
}

/** What `/readyz` answers there, or null. */
async function readReadiness(url: string): Promise<unknown> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT) });
    return await response.json();
  } catch {
    return null;
  }
}
