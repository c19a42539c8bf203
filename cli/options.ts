import { InvalidValue, type Option } from "./command_line/mod.ts";

/** The options of every command, and those of most commands that call a server. */
export interface CommandOptions {
  readonly config?: string;
  readonly dataDir?: string;
  readonly url?: string;
  readonly json?: boolean;
}

/** The options of every command, except for commands without a configuration. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  {
    flags: "-c, --config <file>",
    summary: "configuration file (default: config.yaml, if it exists)",
    completes: "file",
  },
  {
    flags: "--data-dir <folder>",
    summary: "folder of databases and tokens (default: data)",
    completes: "folder",
  },
];

/** `--url`, for every command that calls a server. */
export const URL_OPTION: Option = {
  flags: "--url <url>",
  summary: "the server's API (default: MUSTER_URL, or the server of this data folder)",
};

export const JSON_OPTION: Option = { flags: "--json", summary: "print JSON" };

export const PASSWORD_OPTION: Option = {
  flags: "--password-stdin",
  summary: "read the password from standard input",
};

/** `--client`, of commands that print how to log in to IRC. */
export const CLIENT_OPTION: Option = {
  flags: "--client <client>",
  summary: "print how to log in with this IRC client",
  choices: ["irssi", "weechat", "hexchat"],
};

/** Reads a number of days. */
export function checkDays(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidValue("be a whole number of days");
}

/** Reads the number of an event. */
export function checkNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidValue("be the number of an event");
}

/** Reads a whole number. */
export function checkCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidValue("be a whole number");
}

/** Reads a number of messages a second. */
export function checkRate(text: string): number {
  if (/^\d{1,4}(\.\d{1,2})?$/.test(text)) return Number(text);
  throw new InvalidValue("be a number such as 2 or 0.5");
}
