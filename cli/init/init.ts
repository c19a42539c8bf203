import { dirname } from "node:path";
import { formatAddress } from "../../services/operation/config/mod.ts";
import { commentedFile } from "../../services/operation/config/reference/mod.ts";
import { isLoopback } from "../../services/engines/irc/mod.ts";
import { CommandFailed, commandName, print, printFields, reportDone } from "../output.ts";
import type { CommandOptions } from "../options.ts";
import { choosePassword, randomPassword } from "../passwords.ts";
import { readSettings } from "../settings.ts";
import { type Made, makeFirst } from "./first_records.ts";
import { agentBeside, ANSWERS, Interview, NONE, WRONG_USAGE } from "./questions.ts";

const DEFAULT_FILE = "config.yaml";

const HEADER =
  `# The configuration of muster, written by "muster init". A key behind "#" has its default: to change
# it, remove the "#" before it and before its group. "muster config check" checks this file.
# Each key can also be an environment variable, such as MUSTER_IRC_LISTEN for irc.listen.
`;

interface InitOptions extends CommandOptions {
  readonly yes?: boolean;
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly admin?: string;
  readonly project?: string;
  readonly agent?: string;
  readonly runner?: boolean;
}

/**
 * `muster init`: asks, writes the configuration, and makes the first admin, project and agent.
 *
 * @throws CommandFailed if there is a configuration already, or something cannot be made
 */
export async function init(options: InitOptions): Promise<void> {
  const file = options.config ?? DEFAULT_FILE;
  if (exists(file)) {
    throw new CommandFailed(
      `There is already a file ${file}, and "muster init" overwrites nothing`,
    );
  }
  const interview = new Interview(options.yes !== true);
  const values = new Map<string, unknown>([
    ["data_dir", options.dataDir ?? "./data"],
    ...askAddresses(interview, options),
    ...options.runner === true ? [["runner.enabled", true] as const] : [],
  ]);
  const admin = interview.ask(ANSWERS.admin, options.admin);
  const { password, random } = interview.isPersonal
    ? await choosePassword(false)
    : { password: randomPassword(), random: true };
  const project = interview.ask(ANSWERS.project, options.project);
  const agent = askAgent(interview, admin, options);

  const made: Made[] = [];
  const shown = () => random ? made : made.filter(([name]) => name !== "password");
  try {
    await withDraft(file, commentedFile(HEADER, values), async (draft) => {
      const config = await readSettings({ ...options, config: draft });
      const first = {
        admin: { username: admin, password },
        project: project === NONE ? null : project,
        agent: agent === NONE ? null : agent,
      };
      await makeFirst(config, first, (name, value) => made.push([name, value]));
    });
  } catch (error) {
    // What was made before stays in the data folder, and its secrets are shown only now.
    reportDone(() => printFields(shown()));
    throw error;
  }
  printFields([["configuration", file], ...shown()]);
  print();
  if (options.runner === true) await sayIsolation(file);
  print("Passwords and passphrases are shown only once. Start muster with:");
  print();
  print(`  ${commandName()} serve${options.config === undefined ? "" : ` --config ${file}`}`);
}

/** Says what will keep checks apart from this machine, or what to do where nothing does. */
async function sayIsolation(file: string): Promise<void> {
  const { findIsolation } = await import("../isolation.ts");
  const { there: [bwrap], missing: [missing] } = await findIsolation(["bwrap"]);
  if (bwrap !== undefined) {
    print(`What keeps checks apart from this machine: ${bwrap.about}.`);
  } else {
    print(`Nothing keeps checks apart from this machine: ${missing?.why}.`);
    print(`For code that you trust, set this below "runner:" in ${file}:`);
    print();
    print("  allow_unisolated: true");
  }
  print();
}

function askAgent(interview: Interview, admin: string, options: InitOptions): string {
  const question = agentBeside(admin);
  const agent = interview.ask(question, options.agent);
  const wrong = question.fault(agent);
  if (wrong === null) return agent;
  throw new CommandFailed(`The value "${agent}" of --agent must ${wrong}`, WRONG_USAGE);
}

/** Asks where to listen and for TLS; gives the keys. */
function askAddresses(interview: Interview, options: InitOptions): [string, unknown][] {
  const hostname = interview.ask(ANSWERS.listen, options.listen);
  const cert = interview.ask(ANSWERS.tlsCert, options.tlsCert);
  const at = (port: number, host = hostname) => formatAddress({ hostname: host, port });
  const keys: [string, unknown][] = [["api_addr", at(8080)], ["mcp_addr", at(8081)]];
  if (cert === NONE) return [...keys, ["irc.listen", at(6667)]];
  const key = interview.ask(
    { ...ANSWERS.tlsKey, preset: `${dirname(cert)}/key.pem` },
    options.tlsKey,
  );
  return [
    ...keys,
    // Without TLS, only clients of this machine connect.
    ["irc.listen", at(6667, isLoopback(hostname) ? hostname : "127.0.0.1")],
    ["irc.tls_listen", at(6697)],
    ["tls.cert", cert],
    ["tls.key", key],
  ];
}

/** Writes a file that gets its name only if the work with it succeeds. */
async function withDraft<T>(
  file: string,
  text: string,
  work: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = `${file}.new`;
  try {
    Deno.mkdirSync(dirname(file), { recursive: true });
    Deno.writeTextFileSync(draft, text, { mode: 0o600 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`The file ${draft} cannot be written: ${reason}`);
  }
  try {
    const result = await work(draft);
    Deno.renameSync(draft, file);
    return result;
  } catch (error) {
    Deno.removeSync(draft);
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
