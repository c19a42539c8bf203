import type { Halts } from "../../people/agents/mod.ts";
import { AGENT_TYPES } from "../../people/agents/mod.ts";
import { ServiceError } from "../../kernel/errors.ts";
import { type AccountDirectory, callerOnIrc } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";

const COMMAND = /^!(halt|resume)(?:\s([^]*))?$/i;

/** Longest reason, in characters. */
const MAX_REASON = 200;

export interface HaltCommandsOptions {
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly halts: Pick<Halts, "halt" | "resume">;
  readonly log: Log;
}

/** A message on IRC that may be a command. */
export interface SpokenCommand {
  readonly nick: string;
  /** The proven account of the speaker; null if there is none. */
  readonly account: string | null;
  /** Null for a message to one user. */
  readonly channel: string | null;
  readonly text: string;
}

/** Answers the speaker of a command. */
export type CommandReply = (command: SpokenCommand, text: string) => void;

/**
 * `!halt` and `!resume` on IRC, each with any number of `@nick` and `@type` in front, and `!halt`
 * with a reason after them. The proven account of the speaker decides; a name in the text never
 * does.
 */
export class HaltCommands {
  readonly #options: HaltCommandsOptions;
  #reply: CommandReply = () => {};

  constructor(options: HaltCommandsOptions) {
    this.#options = options;
  }

  /** Sets what answers the speaker. */
  attach(reply: CommandReply): void {
    this.#reply = reply;
  }

  /** Whether a message is a command, which its speaker may not give. */
  isCommand({ text }: Pick<SpokenCommand, "text">): boolean {
    return text.startsWith("!") && COMMAND.test(text.trim());
  }

  /** Handles a message; ignores what is no command. */
  take(command: SpokenCommand): void {
    if (!this.isCommand(command)) return;
    const [, verb = "", rest = ""] = COMMAND.exec(command.text.trim()) ?? [];
    void this.#run(verb.toLowerCase(), rest, command).catch((error: unknown) => {
      this.#options.log.error("A halt from IRC failed on a bug", { error });
    });
  }

  async #run(verb: string, rest: string, command: SpokenCommand): Promise<void> {
    const { accounts, halts } = this.#options;
    const account = command.account === null ? null : accounts.find(command.account);
    if (account === null || account.kind !== "admin" || account.revokedAt !== null) {
      return this.#reply(command, `Only admins who are logged in may use !${verb}`);
    }
    const caller = callerOnIrc(account);
    const { agents, types, reason } = readArguments(rest);
    // An admin that forgets the @ means one agent: this must not resume all of them.
    if (verb === "resume" && reason !== null) return this.#reply(command, usageOf(verb));
    try {
      const { haltSchema } = await import("../../people/agents/schemas.ts");
      const request = haltSchema.parse({ agents, types, reason });
      if (verb === "halt") await halts.halt(request, caller);
      else await halts.resume(request, caller);
    } catch (error) {
      if (error instanceof ServiceError) return this.#reply(command, error.message);
      if (!isRefusedBySchema(error)) throw error;
      this.#reply(command, usageOf(verb));
    }
  }
}

function usageOf(verb: string): string {
  return `Usage: !${verb} [@agent or @type …]${verb === "halt" ? " [reason]" : ""}`;
}

/** What follows the command: names, each with an `@`, and then the reason. */
function readArguments(rest: string) {
  const words = rest.split(/\s+/).filter((word) => word !== "");
  const end = words.findIndex((word) => !word.startsWith("@"));
  const names = (end < 0 ? words : words.slice(0, end)).map((word) => word.slice(1));
  const reason = end < 0 ? "" : words.slice(end).join(" ").slice(0, MAX_REASON);
  const typeOf = (name: string) =>
    AGENT_TYPES.find((type) => [type, `${type}s`].includes(name.toLowerCase()));
  return {
    types: [...new Set(names.flatMap((name) => typeOf(name) ?? []))],
    agents: names.filter((name) => typeOf(name) === undefined),
    reason: reason === "" ? null : reason,
  };
}

function isRefusedBySchema(error: unknown): boolean {
  return error instanceof Error && error.name === "ZodError";
}
