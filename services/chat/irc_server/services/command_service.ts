import { ServiceError } from "../../../kernel/errors.ts";
import type { Service, ServiceCaller } from "../../../engines/irc/mod.ts";

/** A command of a service. */
export interface ServiceCommand {
  /** Its parameters, such as `nick [password]`. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly purpose: string;
  /** Further lines of its help. */
  readonly details?: readonly string[];
  /** The number of required words; with fewer, the service shows the usage. */
  readonly words: number;
  /**
   * @param words the words after the command's name
   * @throws ServiceError, whose message is sent to the caller
   */
  run(words: readonly string[], caller: ServiceCaller): void | Promise<void>;
}

export interface CommandServiceOptions {
  readonly nick: string;
  readonly realname: string;
  /** By the name of the command, in capitals. */
  readonly commands: ReadonlyMap<string, ServiceCommand>;
  /** Aliases of commands. */
  readonly aliases?: Readonly<Record<string, string>>;
}

const CTCP_DELIMITER = "\x01";

/** A user of the IRC server that executes commands and answers by NOTICE. */
export class CommandService implements Service {
  readonly nick: string;
  readonly realname: string;
  readonly #commands: ReadonlyMap<string, ServiceCommand>;
  readonly #aliases: Readonly<Record<string, string>>;

  constructor(options: CommandServiceOptions) {
    this.nick = options.nick;
    this.realname = options.realname;
    this.#commands = options.commands;
    this.#aliases = options.aliases ?? {};
  }

  /** Executes a user's message. Answers do not repeat its words, which may be secrets. */
  async handle(text: string, caller: ServiceCaller): Promise<void> {
    if (text.startsWith(CTCP_DELIMITER)) return;
    const [first = "", ...words] = text.split(" ").filter((word) => word !== "");
    if (first.toUpperCase() === "HELP") return this.#help(words[0], caller);
    const [name, command] = this.#find(first);
    if (command === undefined) {
      return caller.reply(`There is no such command. Say HELP for a list.`);
    }
    if (words.length < command.words) return caller.reply(`Say ${usageOf(name, command)}`);
    try {
      await command.run(words, caller);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      caller.reply(error.message);
    }
  }

  #find(word: string): [string, ServiceCommand | undefined] {
    const asked = word.toUpperCase();
    const name = Object.hasOwn(this.#aliases, asked) ? this.#aliases[asked] ?? asked : asked;
    return [name, this.#commands.get(name)];
  }

  #help(subject: string | undefined, caller: ServiceCaller): void {
    if (subject !== undefined) {
      const [name, command] = this.#find(subject);
      if (command === undefined) return caller.reply("There is no such command.");
      const lines = [usageOf(name, command), command.purpose, ...command.details ?? []];
      return caller.reply(...lines);
    }
    const usages = Array.from(this.#commands, ([name, command]) => usageOf(name, command));
    const width = Math.max(...usages.map((usage) => usage.length));
    const purposes = Array.from(this.#commands.values(), ({ purpose }) => purpose);
    caller.reply(
      `${this.realname}. Commands:`,
      ...usages.map((usage, index) => `${usage.padEnd(width)}  ${purposes[index]}`),
      "HELP and the name of a command tells more.",
    );
  }
}

function usageOf(name: string, { usage }: ServiceCommand): string {
  return `${name} ${usage}`.trimEnd();
}
