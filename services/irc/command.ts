import type { Client } from "./client.ts";
import type { Reply } from "./reply.ts";
import type { ServerState } from "./state.ts";

/** The context of a command. */
export interface CommandCall {
  readonly state: ServerState;
  readonly client: Client;
  /** In upper case. */
  readonly command: string;
  readonly params: readonly string[];
  readonly tags: ReadonlyMap<string, string>;
  /** Takes everything that the client itself is to get. */
  readonly reply: Reply;
}

/**
 * Carries a command out. One that returns a promise holds back what the same client sent after it,
 * and nobody else.
 */
export type CommandHandler = (call: CommandCall) => void | Promise<void>;

/**
 * What a muted account may have of a command: the parameters with which it runs, or null for
 * nothing.
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
  /** Whether it is for IRC operators alone; default no. */
  readonly operatorOnly?: boolean;
  /** Whether it leaves the client idle, as a sign of life does; default no. */
  readonly keepsIdle?: boolean;
  /**
   * What a muted account may have of it; default nothing, since others might see it. `all` is for
   * what nobody else sees, and for messages, which are judged when it is their turn.
   */
  readonly whileMuted?: "all" | MutedForm;
  /** Whether clients send it by themselves, as often as others act; default never. */
  readonly isAutomatic?: (params: readonly string[]) => boolean;
}
