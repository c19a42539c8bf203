/**
 * The command line: a list of all commands. Each entry is a file that declares its commands beside
 * their code, imported when the command line names it.
 */
import { buildId, VERSION } from "../services/kernel/version.ts";
import {
  type CommandLine,
  type Group,
  helpOf,
  isGroup,
  type Leaf,
  parse,
  type Request,
  type TopLevelCommand,
  UsageError,
} from "./command_line/mod.ts";
import { fossilWords } from "./fossil/habits.ts";
import { GLOBAL_OPTIONS } from "./options.ts";
import { bold, CommandFailed, commandName, print, printError, terminalWidth } from "./output.ts";
import { ignoreEmptyAuthorities } from "./certificates.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong command line or configuration. */
const FAILED = 1;
const WRONG_USAGE = 2;

/** A command of the top level, with what its file declares; absent if operations declare all of it. */
interface Entry extends Omit<TopLevelCommand, "load"> {
  readonly load?: TopLevelCommand["load"];
}

const SECTIONS: readonly { readonly title: string; readonly entries: readonly Entry[] }[] = [
  {
    title: "Server",
    entries: [
      {
        name: "serve",
        summary: "run the server (the default)",
        load: async () => (await import("./server.ts")).SERVE,
      },
      {
        name: "init",
        summary: "write a configuration, and make the first admin, project and agent",
        load: async () => (await import("./init/mod.ts")).INIT,
      },
      {
        name: "status",
        summary: "show the state of a running server",
        load: async () => (await import("./server.ts")).STATUS,
      },
      {
        name: "health",
        summary: "check that every part of a running server is up",
        load: async () => (await import("./server.ts")).HEALTH,
      },
      {
        name: "config",
        summary: "check the configuration",
        load: async () => (await import("./config.ts")).CONFIG,
      },
      {
        name: "log",
        summary: "print the event log: every change, its actor and its cause",
        load: async () => (await import("./log.ts")).LOG,
      },
      {
        name: "doctor",
        summary: "check configuration, data and machine, and say how to fix what is wrong",
        load: async () => (await import("./doctor.ts")).DOCTOR,
      },
      {
        name: "backup",
        summary: "copy all data to an archive or a folder, also while the server runs",
        load: async () => (await import("./backup.ts")).BACKUP,
      },
      {
        name: "restore",
        summary: "put a backup in the place of the data folder",
        load: async () => (await import("./backup.ts")).RESTORE,
      },
      {
        name: "upgrade",
        summary: "say what a start of this version would do to older data",
        load: async () => (await import("./upgrade.ts")).UPGRADE,
      },
      {
        name: "node",
        summary: "several servers with one database: list, drain and remove them",
        load: async () => (await import("./node.ts")).NODE,
      },
      {
        name: "migrate",
        summary: "move the app database to PostgreSQL, or back to SQLite",
        load: async () => (await import("./migrate.ts")).MIGRATE,
      },
    ],
  },
  {
    title: "Channels",
    entries: [
      {
        name: "channel",
        summary: "the channels that the bridge is in",
        load: async () => (await import("./channel.ts")).CHANNEL,
      },
      {
        name: "tail",
        summary: "print the messages of a channel as they arrive",
        load: async () => (await import("./tail.ts")).TAIL,
      },
      {
        name: "send",
        summary: "post a message to a channel",
      },
    ],
  },
  {
    title: "Agents and people",
    entries: [
      {
        name: "agent",
        summary: "register agents and manage them",
        load: async () => (await import("./agent.ts")).AGENT,
      },
      {
        name: "halt",
        summary: "halt agents: they may read, but not say or change anything",
        load: async () => (await import("./halt.ts")).HALT,
      },
      {
        name: "resume",
        summary: "let halted agents go on",
        load: async () => (await import("./halt.ts")).RESUME,
      },
      {
        name: "needs",
        summary: "list what waits for somebody, and who must act",
      },
      {
        name: "question",
        summary: "questions of agents to people",
        load: async () => (await import("./question.ts")).QUESTION,
      },
      {
        name: "mcp",
        summary: "the tools for agents' clients, such as Claude Code, Codex and Gemini CLI",
        load: async () => (await import("./mcp.ts")).MCP,
      },
      {
        name: "hook",
        summary: "print what is new in an agent's inbox, for the hooks of a client",
        standalone: true,
        load: async () => (await import("./hook.ts")).HOOK,
      },
      {
        name: "account",
        summary: "IRC accounts of people",
        load: async () => (await import("./account.ts")).ACCOUNT,
      },
      {
        name: "admin",
        summary: "admins, who log in to the web pages",
        load: async () => (await import("./admin.ts")).ADMIN,
      },
      { name: "key", summary: "manage the SSH keys that sign commits" },
      {
        name: "token",
        summary: "tokens of agents, people and admins, and the API's own",
        load: async () => (await import("./token.ts")).TOKEN,
      },
      {
        name: "ban",
        summary: "bans from the IRC server",
        load: async () => (await import("./irc.ts")).BAN,
      },
      {
        name: "client",
        summary: "connections to the IRC server",
      },
      {
        name: "irc",
        summary: "bans and clients, under their earlier names",
        hidden: true,
        load: async () => (await import("./irc.ts")).IRC,
      },
    ],
  },
  {
    title: "Projects",
    entries: [
      {
        name: "project",
        summary: "projects with their repositories: make, import, export, members",
        load: async () => (await import("./project.ts")).PROJECT,
      },
      {
        name: "ticket",
        summary: "tickets of a project: list, show, create, edit",
      },
      {
        name: "check",
        summary: "checks that a repository defines: judge the definition, run them here",
        load: async () => (await import("./check.ts")).CHECK,
      },
      {
        name: "runner",
        summary: "programs that run checks: start one here, make and manage them",
        load: async () => (await import("./runner.ts")).RUNNER,
      },
      {
        name: "pull",
        summary: "put the files of a project into a folder without Git, or bring it up to date",
        load: async () => (await import("./folder/pull.ts")).PULL,
      },
      {
        name: "push",
        summary: "send what was changed in such a folder, for a review",
        load: async () => (await import("./folder/push.ts")).PUSH,
      },
    ],
  },
  {
    title: "Settings",
    entries: [
      {
        name: "backend",
        summary: "backends of language models",
      },
      {
        name: "llm",
        summary: "tokens and costs of calls of language models, and budgets",
        load: async () => (await import("./llm.ts")).LLM,
      },
      {
        name: "herald",
        summary: "announce events of other programs in channels",
      },
      {
        name: "policy",
        summary: "the settings of each bot",
        load: async () => (await import("./policy.ts")).POLICY,
      },
      {
        name: "hash-password",
        summary: "read a password from standard input and print its hash for irc.operators",
        standalone: true,
        load: async () => (await import("./hash_password.ts")).HASH_PASSWORD,
      },
    ],
  },
  {
    title: "Repositories",
    entries: [
      {
        name: "fossil",
        summary: "read and write Fossil repository files, without a server",
        standalone: true,
        load: async () => (await import("./fossil/mod.ts")).FOSSIL,
      },
    ],
  },
  {
    title: "Help",
    entries: [
      {
        name: "completion",
        summary: "print the script that completes commands in a shell",
        standalone: true,
        load: async () => (await import("./documents/mod.ts")).completion(COMMAND_LINE),
      },
      {
        name: "man",
        summary: "print the manual page",
        standalone: true,
        load: async () => (await import("./documents/mod.ts")).manual(COMMAND_LINE),
      },
      {
        name: "licenses",
        summary: "print the licenses of everything that muster embeds",
        standalone: true,
        load: async () => (await import("./licenses.ts")).LICENSES,
      },
      {
        name: "run-worker",
        summary: "read what strangers wrote, for a server that starts this itself",
        hidden: true,
        standalone: true,
        load: async () => (await import("./run_worker.ts")).RUN_WORKER,
      },
      {
        name: "reference",
        summary: "print a page of docs/ that is generated, or config.example.yaml",
        hidden: true,
        standalone: true,
        load: async () => (await import("./documents/mod.ts")).reference(COMMAND_LINE),
      },
    ],
  },
];

/** The table of all commands. */
export const COMMAND_LINE: CommandLine = {
  name: "muster",
  summary: "One place where AI agents and people meet: IRC, HTTP and MCP in one program.",
  version: VERSION,
  options: GLOBAL_OPTIONS,
  default: "serve",
  sections: SECTIONS.map(({ title, entries }) => ({
    title,
    entries: entries.map((entry) => ({ ...entry, load: () => loaded(entry) })),
  })),
  examples: [
    { line: "agent add scout --channels general", purpose: "Register an agent" },
    { line: "tail '#general'", purpose: "Watch a channel" },
  ],
  notes: [
    "Commands find the server by --url, MUSTER_URL or the data folder, and the token by " +
    "MUSTER_TOKEN or the data folder. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.",
  ],
};

/** A command with those that operations declare in it. */
async function loaded({ name, load, standalone }: Entry): Promise<Leaf | Group> {
  const own = await load?.();
  if (own !== undefined && (standalone === true || !isGroup(own))) return own;
  const { withOperations } = await import("./operations.ts");
  return withOperations([name], own);
}

/**
 * Runs the command that the arguments name; none means `serve`.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[]): Promise<number> {
  ignoreEmptyAuthorities();
  try {
    return await answer(await parse(COMMAND_LINE, fossilWords(args)));
  } catch (error) {
    if (error instanceof UsageError) {
      printError(error.message);
      const command = ["muster", ...error.path, "--help"].join(" ");
      printError(`"${command}" shows the usage`);
      return WRONG_USAGE;
    }
    if (error instanceof CommandFailed) {
      printError(error.message);
      return error.exitCode;
    }
    // The reader of the output, such as "head", has read enough.
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    printError(error instanceof Error ? error.stack ?? error.message : String(error));
    return FAILED;
  }
}

async function answer(request: Request): Promise<number> {
  switch (request.kind) {
    case "version":
      print(`${VERSION} (build ${buildId()})`);
      return 0;
    case "help": {
      const stream = request.isMisuse ? Deno.stderr : Deno.stdout;
      const text = helpOf(COMMAND_LINE, request.target, {
        width: Math.min(terminalWidth(stream) ?? 80, 100),
        title: (title) => bold(title, stream),
        program: Deno.build.standalone ? "muster" : commandName(),
      });
      (request.isMisuse ? printError : print)(text);
      return request.isMisuse ? WRONG_USAGE : 0;
    }
    case "run":
      await request.command.run(...request.values as never[]);
      return 0;
  }
}
