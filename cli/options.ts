import { type Command, InvalidArgumentError, Option } from "commander";
import { parseAddress } from "../services/config/mod.ts";
import { parseDuration } from "../services/irc/mod.ts";

/** The options of a command and of all the commands above it. */
export interface CommandOptions {
  readonly config?: string;
  readonly dataDir?: string;
  readonly apiAddr?: string;
  readonly mcpAddr?: string;
  readonly ircListen?: string;
  readonly logLevel?: string;
  readonly url?: string;
  readonly json?: boolean;
  readonly lines?: number;
  readonly nick?: string;
  readonly type?: string;
  readonly channels?: string;
  readonly client?: string;
  readonly passwordStdin?: boolean;
  readonly name?: string;
  readonly reason?: string;
  /** Milliseconds. */
  readonly for?: number;
  readonly none?: boolean;
  readonly burst?: number;
  readonly scopes?: string;
  readonly days?: number;
  readonly follow?: boolean;
  readonly after?: number;
  readonly types?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly allow?: string;
  readonly block?: string;
}

/** Reads the options of a command and of all the commands above it. */
export function optionsOf(command: Command): CommandOptions {
  return command.optsWithGlobals<CommandOptions>();
}

/** `--url`, of every command that calls a server. */
export function urlOption(): Option {
  return new Option("--url <url>", "the server's API (default: MUSTER_URL, or api_addr)");
}

/** `--password-stdin`. */
export function passwordOption(): Option {
  return new Option("--password-stdin", "read the password from standard input");
}

/** `--client`, of what prints how to log in to IRC. */
export function clientOption(): Option {
  return new Option("--client <client>", "print the lines that log this IRC client in")
    .choices(["irssi", "weechat", "hexchat"]);
}

/** Reads `host:port`. */
export function checkAddress(text: string): string {
  if (parseAddress(text) !== null) return text;
  throw new InvalidArgumentError('It must be "host:port", or ":port" for every interface.');
}

/** Reads a number of days. */
export function checkDays(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of days.");
}

/** Reads the number of an event. */
export function checkNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be the number of an event.");
}

/** Reads a whole number. */
export function checkCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

/** Reads a number of messages a second. */
export function checkRate(text: string): number {
  if (/^\d{1,4}(\.\d{1,2})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number such as 2 or 0.5.");
}

/** Reads a length of time such as `90m` or `1d12h`, in milliseconds. */
export function checkDuration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== null) return milliseconds;
  throw new InvalidArgumentError("It must be a time such as 30m, 12h or 7d.");
}
