import type { Reply } from "./reply.ts";
import type { ServerState } from "./state.ts";
import type { Client } from "./members.ts";

/** The context of a command. */
export interface CommandCall {
  readonly state: ServerState;
  readonly client: Client;
  /** In upper case. */
  readonly command: string;
  readonly params: readonly string[];
  readonly tags: ReadonlyMap<string, string>;
  /** The id of the message that it sends; absent for a new one. */
  readonly id?: string | undefined;
  /** Receives everything that is sent to the client itself. */
  readonly reply: Reply;
}

/**
 * Executes a command. A returned promise delays the later commands of the same client, and nobody
 * else's.
 */
export type CommandHandler = (call: CommandCall) => void | Promise<void>;

/**
 * The part of a command that a muted account may run: its parameters, or null for nothing.
 *
 * @param reason why the account is muted
 */
export type MutedForm = (call: CommandCall, reason: string) => readonly string[] | null;

/** One entry of the table of commands. */
export interface CommandDefinition {
  readonly handler: CommandHandler;
  /** Fewer parameters are answered 461; default 0. */
  readonly minParams?: number;
  /** Whether it may be used before registration is complete; default no. */
  readonly beforeRegistration?: boolean;
  /** Capability without which a client has no such command. */
  readonly capability?: number;
  /** Whether only IRC operators may use it; default no. */
  readonly operatorOnly?: boolean;
  /** Whether the client stays idle, as with PING; default no. */
  readonly keepsIdle?: boolean;
  /**
   * What a muted account may do with it; default nothing, because others might see it. `all` is for
   * commands that nobody else sees, and for messages, which are checked when they are sent.
   */
  readonly whileMuted?: "all" | MutedForm;
  /** Whether clients send it automatically when other users act; default never. */
  readonly isAutomatic?: (params: readonly string[]) => boolean;
}
