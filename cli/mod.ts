/** The command line: each command is a file, imported when it is asked for. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../services/config/mod.ts";
import { VERSION } from "../services/version.ts";
import { addFossil } from "./fossil/mod.ts";
import { addIrc } from "./irc_commands.ts";
import {
  checkAddress,
  checkCount,
  checkDays,
  checkNumber,
  checkRate,
  clientOption,
  optionsOf,
  passwordOption,
  urlOption,
} from "./options.ts";
import { CommandFailed, printError } from "./output.ts";

/** Exit codes: 0 done, 1 it failed, 2 the command line or the configuration is wrong. */
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs the command that the arguments name; none means `serve`.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    if (error instanceof ConfigError) {
      printError(error.message);
      return WRONG_USAGE;
    }
    if (error instanceof CommandFailed) {
      printError(error.message);
      return error.exitCode;
    }
    // Who reads the output, such as "head", has enough of it.
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    printError(error instanceof Error ? error.stack ?? error.message : String(error));
    return FAILED;
  }
}

function buildProgram(): Command {
  const program = new Command("muster")
    .description("One place where AI agents and people meet: IRC, HTTP and MCP in one program.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help for a command")
    .option("-c, --config <file>", "configuration file (default: config.yaml where there is one)")
    .option("--data-dir <folder>", "where databases and tokens live")
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true });
  addServer(program);
  addChannels(program);
  addAgents(program);
  addAccounts(program);
  addIrc(program);
  addAdmins(program);
  addTokens(program);
  addFossil(program);
  addPolicies(program);
  addBackends(program);
  addLog(program);
  return program;
}

function addServer(program: Command): void {
  program.command("serve", { isDefault: true })
    .description("run the server (the default)")
    .option("--api-addr <host:port>", "where the REST API listens", checkAddress)
    .option("--mcp-addr <host:port>", "where the MCP server listens", checkAddress)
    .option("--irc-listen <host:port>", "where the IRC server listens", checkAddress)
    .option("--log-level <level>", "debug, info, warning or error")
    .action(async (_, command: Command) => (await import("./serve.ts")).serve(optionsOf(command)));
  program.command("health")
    .description("ask a running server whether every part is up")
    .addOption(urlOption())
    .action(async (_, command: Command) =>
      (await import("./health.ts")).health(optionsOf(command))
    );
  const config = program.command("config").description("work with the configuration");
  config.command("check")
    .description("say whether the configuration can be used, without starting")
    .action(async (_, command: Command) => {
      await (await import("./config.ts")).checkConfig(optionsOf(command));
    });
  program.command("hash-password")
    .description("read a password from standard input, print its hash for irc.operators")
    .action(async () => await (await import("./hash_password.ts")).hashPassword());
}

function addChannels(program: Command): void {
  program.command("tail <channel>")
    .description("print the messages of a channel as they come")
    .option("-n, --lines <count>", "how many earlier messages to print first", checkCount, 10)
    .option("--json", "print one JSON object per message")
    .addOption(urlOption())
    .action(async (channel: string, _, command: Command) => {
      await (await import("./tail.ts")).tail(channel, optionsOf(command));
    });
  program.command("send <channel> <text...>")
    .description("post a message to a channel")
    .option("--nick <nick>", "the name to post under (default: the bridge)")
    .addOption(urlOption())
    .action(async (channel: string, text: string[], _, command: Command) => {
      await (await import("./send.ts")).send(channel, text.join(" "), optionsOf(command));
    });
}

function addAgents(program: Command): void {
  const agent = program.command("agent").description("register agents and manage them");
  agent.command("list")
    .description("list all agents")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./agent.ts")).listAgents(optionsOf(command));
    });
  agent.command("register <nick>")
    .description("register an agent and print its passphrase, once")
    .option("--type <type>", "worker, orchestrator, observer or operator")
    .option("--channels <names>", "its channels, separated by commas")
    .option("--json", "print JSON")
    .addOption(clientOption())
    .addOption(urlOption())
    .action(async (nick: string, _, command: Command) => {
      await (await import("./agent.ts")).registerAgent(nick, optionsOf(command));
    });
  agent.command("adopt <nick>")
    .description("make an IRC account an agent; it keeps its password")
    .option("--type <type>", "worker, orchestrator, observer or operator")
    .option("--channels <names>", "its channels, separated by commas")
    .addOption(urlOption())
    .action(async (nick: string, _, command: Command) => {
      await (await import("./agent.ts")).adoptAgent(nick, optionsOf(command));
    });
  agent.command("rotate <nick>")
    .description("give an agent a new passphrase; the old one ends at once")
    .option("--json", "print JSON")
    .addOption(clientOption())
    .addOption(urlOption())
    .action(async (nick: string, _, command: Command) => {
      await (await import("./agent.ts")).rotateAgent(nick, optionsOf(command));
    });
  addAgentHolds(agent);
  for (const action of ["revoke", "delete"] as const) {
    agent.command(`${action} <nick>`)
      .description(
        action === "revoke"
          ? "end an agent's access; its record stays"
          : "remove an agent; its nick is free again",
      )
      .addOption(urlOption())
      .action(async (nick: string, _, command: Command) => {
        await (await import("./agent.ts")).endAgent(action, nick, optionsOf(command));
      });
  }
}

/** What an agent may say. */
function addAgentHolds(agent: Command): void {
  agent.command("pause <nick>")
    .description("refuse every message of an agent; its sessions stay")
    .option("--reason <text>", "what the agent is told")
    .addOption(urlOption())
    .action(async (nick: string, _, command: Command) => {
      await (await import("./agent.ts")).pauseAgent(nick, optionsOf(command));
    });
  agent.command("resume <nick>")
    .description("let a paused agent speak again")
    .addOption(urlOption())
    .action(async (nick: string, _, command: Command) => {
      await (await import("./agent.ts")).resumeAgent(nick, optionsOf(command));
    });
  agent.command("rate <nick>")
    .description("let an agent send so many messages a second, and slow what is more")
    .argument("[messages]", "how many a second, such as 2 or 0.5", checkRate)
    .option("--burst <count>", "how many at once (default: what a second gives)", checkCount)
    .option("--none", "as many as everybody")
    .addOption(urlOption())
    .action(async (nick: string, rate: number | undefined, _, command: Command) => {
      await (await import("./agent.ts")).setAgentRate(nick, rate ?? null, optionsOf(command));
    });
}

function addAccounts(program: Command): void {
  const account = program.command("account").description("IRC accounts of people");
  account.command("add <name>")
    .description("make an account and print the lines that log an IRC client in")
    .option("--password-stdin", "read the password from standard input (default: a random one)")
    .addOption(clientOption())
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./account.ts")).addAccount(name, optionsOf(command));
    });
  account.command("list")
    .description("list all accounts")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./account.ts")).listAccounts(optionsOf(command));
    });
  account.command("passwd <name>")
    .description("replace a password and close the account's sessions")
    .addOption(passwordOption())
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./account.ts")).setAccountPassword(name, optionsOf(command));
    });
  account.command("delete <name>")
    .description("remove an account")
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./account.ts")).deleteAccount(name, optionsOf(command));
    });
}

function addAdmins(program: Command): void {
  const admin = program.command("admin").description("admins, who log in to the web pages");
  admin.command("create <name>")
    .description("make an admin; asks for the password on a terminal, else makes a random one")
    .addOption(passwordOption())
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./admin.ts")).createAdmin(name, optionsOf(command));
    });
  admin.command("list")
    .description("list all admins")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./admin.ts")).listAdmins(optionsOf(command));
    });
  admin.command("passwd <name>")
    .description("replace an admin's password and end its sessions")
    .addOption(passwordOption())
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./admin.ts")).setAdminPassword(name, optionsOf(command));
    });
  admin.command("delete <name>")
    .description("remove an admin with its sessions and tokens")
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./admin.ts")).deleteAdmin(name, optionsOf(command));
    });
}

function addTokens(program: Command): void {
  const token = program.command("token").description("tokens of agents and admins, and the API's");
  token.command("create <owner>")
    .description("make a token for an agent or an admin and print it, once")
    .option("--name <name>", "what tells it apart from others")
    .option("--scopes <scopes>", "read, write, admin, separated by commas (default: read)")
    .option("--days <count>", "how long it lasts (default: until it is revoked)", checkDays)
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (owner: string, _, command: Command) => {
      await (await import("./token.ts")).createToken(owner, optionsOf(command));
    });
  token.command("list")
    .description("list all tokens, without the tokens themselves")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./token.ts")).listTokens(optionsOf(command));
    });
  token.command("revoke <id>")
    .description("end a token at once")
    .addOption(urlOption())
    .action(async (id: string, _, command: Command) => {
      await (await import("./token.ts")).revokeToken(id, optionsOf(command));
    });
  token.command("rotate")
    .description("replace the API token at once and print the new one")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./token.ts")).rotateToken(optionsOf(command));
    });
}

function addPolicies(program: Command): void {
  const policy = program.command("policy").description("what is set for each bot");
  policy.command("get [name]")
    .description("print all policies, or one such as oracle or oracle.backend")
    .addOption(urlOption())
    .action(async (name: string | undefined, _, command: Command) => {
      await (await import("./policy.ts")).getPolicy(name, optionsOf(command));
    });
  policy.command("set <name> <value>")
    .description("set a policy such as oracle.backend; the value null removes it")
    .addOption(urlOption())
    .action(async (name: string, value: string, _, command: Command) => {
      await (await import("./policy.ts")).setPolicy(name, value, optionsOf(command));
    });
}

function addBackends(program: Command): void {
  const backend = program.command("backend").description("backends of language models");
  backend.command("list")
    .description("list all backends; the first one is the default")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./backend.ts")).listBackends(optionsOf(command));
    });
  backend.command("add <name> <provider>")
    .description("make a backend of a provider such as anthropic, or of any with --base-url")
    .option("--base-url <url>", "where its API is (default: the provider's address)")
    .option("--api-key-env <name>", "the server's environment variable that holds the key")
    .option("--allow <patterns>", "models to let through, such as gpt-*, separated by commas")
    .option("--block <patterns>", "models to refuse, separated by commas")
    .addOption(urlOption())
    .action(async (name: string, provider: string, _, command: Command) => {
      await (await import("./backend.ts")).addBackend(name, provider, optionsOf(command));
    });
  backend.command("remove <name>")
    .description("remove a backend")
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./backend.ts")).removeBackend(name, optionsOf(command));
    });
  backend.command("models <name>")
    .description("ask a backend's provider which models it has")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (name: string, _, command: Command) => {
      await (await import("./backend.ts")).listModels(name, optionsOf(command));
    });
}

function addLog(program: Command): void {
  program.command("log")
    .description("print the event log: what changed, who did it and what caused it")
    .option("-f, --follow", "go on with each new event")
    .option("-n, --lines <count>", "how many of the newest events to print", checkCount, 20)
    .option("--after <number>", "print all events after this number", checkNumber)
    .option("--types <types>", "only these types, separated by commas, such as agent.*")
    .option("--json", "print one JSON object per event")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./log.ts")).showLog(optionsOf(command));
    });
  program.command("doctor").description("look for damage")
    .command("log")
    .description("verify the event log in the data folder; a server may run meanwhile")
    .option("--json", "print JSON")
    .action(async (_, command: Command) => {
      await (await import("./doctor.ts")).checkLog(optionsOf(command));
    });
}
