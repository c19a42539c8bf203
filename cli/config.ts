import { type Config, DataFolder, DataFolderError } from "../services/operation/config/mod.ts";
import { faultOfAuthorities, readCertificate } from "./certificates.ts";
import type { Group } from "./command_line/mod.ts";
import { type Endpoints, readEndpoints } from "./endpoints.ts";
import type { CommandOptions } from "./options.ts";
import { CommandFailed, print, printError } from "./output.ts";
import { findClearText, findListenProblems, listenersOf, type Problem } from "./preflight.ts";
import { readSettings } from "./settings.ts";

/**
 * `muster config check`: runs all checks of a start, and changes nothing.
 *
 * @throws CommandFailed if the server would not start, with a line for each reason
 */
async function checkConfig(options: CommandOptions): Promise<void> {
  const config = await readSettings(options);
  const running = await runningEndpoints(config.data_dir);
  const ports = Object.values(running ?? {}).map((url) => URL.parse(url ?? "")?.port);
  const problems = [
    ...await findTlsProblems(config),
    ...findUnreadable(config),
    ...findAuthoritiesProblem(),
    ...findListenProblems(listenersOf(config), ({ port }) => ports.includes(String(port))),
  ];
  for (const { message, key } of findClearText(config)) printError(`warning: ${key}: ${message}`);
  if (problems.length > 0) {
    const exitCode = Math.max(...problems.map((problem) => problem.exitCode));
    throw new CommandFailed(problems.map(({ message }) => message).join("\n"), exitCode);
  }
  print("The configuration is valid");
  if (running === null) return;
  print(`A server with this data folder is running at ${running.api}`);
  if (running.pages !== undefined) print(`Its web pages are at ${running.pages}`);
}

/** The addresses of the running server of this data folder; null if there is none. */
async function runningEndpoints(dataDir: string): Promise<Endpoints | null> {
  try {
    DataFolder.check(dataDir);
    return null;
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    return await readEndpoints(dataDir);
  }
}

async function findTlsProblems(config: Config): Promise<Problem[]> {
  const { acme, cert } = config.tls;
  // The first start makes the file.
  if (acme.domains.length > 0 && !isReadable(cert)) return [];
  try {
    await readCertificate(config);
    return [];
  } catch (error) {
    if (error instanceof CommandFailed) return [{ message: error.message, exitCode: 2 }];
    throw error;
  }
}

/** Finds unreadable files that the configuration names. */
export function findUnreadable({ database, irc, bridge }: Config): Problem[] {
  const ofNetwork: readonly (readonly [string, string])[] = [
    ["irc.tls.ca", irc.tls.ca],
    ["irc.ergo.api_token_file", irc.ergo.api_token_file],
    ["irc.services.password_file", irc.services.password_file],
    ["irc.services.oper_password_file", irc.services.oper_password_file],
    ["bridge.password_file", bridge.password_file],
  ];
  const files = [
    ["database.password_file", database.password_file] as const,
    ...irc.mode === "external" ? ofNetwork : [],
  ];
  return files.filter(([, file]) => file !== "" && !isReadable(file)).map(([key, file]) => ({
    message: `The file "${file}" (${key}) cannot be read`,
    exitCode: 2,
  }));
}

function findAuthoritiesProblem(): Problem[] {
  const message = faultOfAuthorities();
  return message === null ? [] : [{ message, exitCode: 2 }];
}

function isReadable(path: string): boolean {
  try {
    Deno.openSync(path).close();
    return true;
  } catch {
    return false;
  }
}

/** `muster config`: the configuration. */
export const CONFIG: Group = {
  commands: [
    {
      name: "check",
      summary: "check whether the server could start with the configuration",
      run: checkConfig,
      notes: [
        "It reads the TLS files, tries the addresses, and warns where passwords and tokens would " +
        "travel in the clear.",
      ],
    },
  ],
  examples: [
    { line: "config check --config /etc/muster/config.yaml", purpose: "Check a file" },
  ],
};
