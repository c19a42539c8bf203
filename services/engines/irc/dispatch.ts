/** Runs the command of a message: the checks before its handler, and the work after it. */

import { unmuted } from "./admission/muting.ts";
import { Cap } from "./protocol/capabilities.ts";
import type { CommandCall, CommandDefinition } from "./command.ts";
import { COMMANDS } from "./commands/mod.ts";
import type { Message } from "./protocol/message.ts";
import { takeLine } from "./multiline.ts";
import {
  ERR_INPUTTOOLONG,
  ERR_NEEDMOREPARAMS,
  ERR_NOPRIVILEGES,
  ERR_NOTREGISTERED,
  ERR_UNKNOWNCOMMAND,
  ERR_UNKNOWNERROR,
} from "./protocol/numerics.ts";
import { labelOf, Reply } from "./reply.ts";
import type { ServerState } from "./state.ts";
import type { Client } from "./members.ts";

/** The command of nearly all lines, for which nothing is looked up. */
const MESSAGE = "PRIVMSG";
const MESSAGE_DEFINITION = COMMANDS.get(MESSAGE);

/** The cost of a command that clients send automatically. */
const AUTOMATIC_COST = 0.1;

/**
 * Runs a command. The client's later commands wait for a returned promise.
 *
 * @param id the id of the message that it says; a new one, if absent
 */
export function dispatch(
  state: ServerState,
  client: Client,
  message: Message,
  id?: string,
): void | Promise<void> {
  if (client.hasCapability(Cap.MULTILINE) && takeLine(state, client, message)) return;
  const { command, params, tags } = message;
  const reply = new Reply(state, client, labelOf(message));
  const definition = command === MESSAGE ? MESSAGE_DEFINITION : COMMANDS.get(command);
  if (definition === undefined || !isOpenTo(definition, client)) {
    reply.numeric(client.registered ? ERR_UNKNOWNCOMMAND : ERR_NOTREGISTERED, command);
  } else if (mayRun(definition, client, message, reply)) {
    const call = unmuted(definition, { state, client, command, params, tags, id, reply });
    if (call !== null) {
      if (!definition.keepsIdle) client.lastActiveAt = state.now();
      return run(definition, call);
    }
  }
  reply.finish();
}

/**
 * The cost of a message for the sender's rate. Queries that clients send automatically for each
 * joining user cost little for clients with an account.
 */
export function costOf(client: Client, message: Message): number {
  if (client.account === null) return 1;
  return COMMANDS.get(message.command)?.isAutomatic?.(message.params) ? AUTOMATIC_COST : 1;
}

/** Refuses a line that exceeds the limit; no part of it is executed. */
export function refuseTooLong(state: ServerState, client: Client, message: Message | null): void {
  refuse(state, client, message, (reply) => reply.numeric(ERR_INPUTTOOLONG));
}

/** Answers a line that is not UTF-8 (`UTF8ONLY`). */
export function refuseInvalidText(
  state: ServerState,
  client: Client,
  message: Message | null,
): void {
  refuse(state, client, message, (reply) => {
    reply.fail(
      message?.command ?? "*",
      "INVALID_UTF8",
      [],
      "Message rejected, it is not valid UTF-8",
    );
  });
}

/** Answers a line that is not an IRC message at all. */
export function refuseMalformed(state: ServerState, client: Client): void {
  refuse(state, client, null, (reply) => {
    reply.numericText(ERR_UNKNOWNERROR, ["*"], "Message rejected, it has no valid form");
  });
}

function refuse(
  state: ServerState,
  client: Client,
  message: Message | null,
  answer: (reply: Reply) => void,
): void {
  const reply = new Reply(state, client, message && labelOf(message));
  answer(reply);
  reply.finish();
}

function isOpenTo({ capability }: CommandDefinition, client: Client): boolean {
  return capability === undefined || client.hasCapability(capability);
}

function mayRun(
  definition: CommandDefinition,
  client: Client,
  { command, params }: Message,
  reply: Reply,
): boolean {
  if (!client.registered && !definition.beforeRegistration) {
    reply.numeric(ERR_NOTREGISTERED);
  } else if (definition.operatorOnly && !client.isOperator) {
    reply.numeric(ERR_NOPRIVILEGES);
  } else if (params.length < (definition.minParams ?? 0)) {
    reply.numeric(ERR_NEEDMOREPARAMS, command);
  } else {
    return true;
  }
  return false;
}

function run(definition: CommandDefinition, call: CommandCall): void | Promise<void> {
  try {
    const pending = definition.handler(call);
    if (!pending) return call.reply.finish();
    return pending.catch((error) => fail(call, error)).then(() => call.reply.finish());
  } catch (error) {
    fail(call, error);
    call.reply.finish();
  }
}

/** A bug ends the command, never the client or the program. */
function fail({ state, command, reply }: CommandCall, error: unknown): void {
  state.log.error("IRC command failed", { command, error });
  reply.numericText(ERR_UNKNOWNERROR, [command], "Internal error");
}
