/**
 * Multiline messages from a client: it begins a batch, sends lines, and ends the batch (IRCv3
 * multiline and client-batch). A client has one batch at a time, bounded in lines, bytes and time.
 */

import type { Message } from "./protocol/message.ts";
import { foldCase } from "./protocol/names.ts";
import { CONCAT_TAG } from "./outbound.ts";
import { encodedLength } from "./protocol/text.ts";
import { labelOf, Reply } from "./reply.ts";
import type { ServerState } from "./state.ts";
import type { Client, ClientBatch } from "./members.ts";

/**
 * How long a client may take for all lines of a message; a guest at the default rate needs a third
 * of it.
 */
const BATCH_MILLISECONDS = 60_000;

/** Commands that do not disturb a batch: clients send them automatically or to quit. */
const INTERLUDES: ReadonlySet<string> = new Set(["PING", "PONG", "QUIT"]);

/**
 * Handles a line of a batch, or a command that interrupts one. False if the line is an ordinary
 * command.
 */
export function takeLine(state: ServerState, client: Client, message: Message): boolean {
  const { batch } = client;
  const reference = message.tags.get("batch");
  if (reference !== undefined) {
    if (batch === null) {
      failWithout(state, client, message);
    } else if (!batch.failed) {
      const fault = reference === batch.reference
        ? addLine(state, batch, message)
        : invalid("The line is of another batch");
      if (fault) failBatch(state, client, batch, fault);
    }
    return true;
  }
  if (batch === null || message.command === "BATCH" || INTERLUDES.has(message.command)) {
    return false;
  }
  if (!batch.failed) {
    failBatch(state, client, batch, invalid("A batch ends before anything else is sent"));
  }
  client.batch = null;
  return false;
}

/** Drops a batch that has been open for too long. */
export function expireBatch(state: ServerState, client: Client): void {
  const { batch } = client;
  if (batch === null || state.now() - batch.startedAt < BATCH_MILLISECONDS) return;
  if (batch.failed) {
    client.batch = null;
  } else {
    const text = "The batch was left open for too long";
    failBatch(state, client, batch, { code: "TIMEOUT", context: [batch.reference], text });
  }
}

/** The error of a batch: the code of a FAIL, its context, and a sentence. */
export interface BatchFault {
  readonly code: string;
  readonly context: readonly string[];
  readonly text: string;
}

export function invalid(text: string): BatchFault {
  return { code: "MULTILINE_INVALID", context: [], text };
}

/** Tells the client that a batch has failed, and drops its lines. */
export function failBatch(
  state: ServerState,
  client: Client,
  batch: ClientBatch,
  { code, context, text }: BatchFault,
): void {
  batch.failed = true;
  batch.lines = [];
  const reply = new Reply(state, client, batch.label);
  reply.fail("BATCH", code, context, text);
  reply.finish();
}

function failWithout(state: ServerState, client: Client, message: Message): void {
  const reply = new Reply(state, client, labelOf(message));
  const { code, text } = invalid("The line is of a batch that was not begun");
  reply.fail("BATCH", code, [], text);
  reply.finish();
}

function addLine(
  { limits }: ServerState,
  batch: ClientBatch,
  { command, params, tags }: Message,
): BatchFault | null {
  const [target = "*", text = ""] = params;
  if (command !== "PRIVMSG") return invalid("The lines of a batch are PRIVMSG");
  if (foldCase(target) !== foldCase(batch.target)) {
    const code = "MULTILINE_INVALID_TARGET";
    return { code, context: [batch.target, target], text: "The line is to somebody else" };
  }
  const concat = tags.has(CONCAT_TAG);
  if (concat && text === "") return invalid("An empty line continues nothing");
  const isFirst = batch.lines.length === 0;
  batch.bytes += encodedLength(text) + (isFirst || concat ? 0 : 1);
  const { multilineBytes, multilineLines } = limits;
  if (batch.lines.length === multilineLines) {
    const context = [String(multilineLines)];
    return { code: "MULTILINE_MAX_LINES", context, text: "The message has too many lines" };
  }
  if (batch.bytes > multilineBytes) {
    const context = [String(multilineBytes)];
    return { code: "MULTILINE_MAX_BYTES", context, text: "The message is too long" };
  }
  batch.lines.push({ text, concat: concat && !isFirst });
  return null;
}
