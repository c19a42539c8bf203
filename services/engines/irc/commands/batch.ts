/** BATCH from clients: multiline messages (IRCv3 client-batch and multiline). */

import type { CommandCall } from "../command.ts";
import { failBatch, invalid } from "../multiline.ts";
import { MULTILINE_BATCH } from "../outbound.ts";
import { Reply } from "../reply.ts";
import { sendLines } from "./messages.ts";
import type { ClientBatch } from "../members.ts";

/** BATCH +reference draft/multiline target, or BATCH -reference. */
export function batch(call: CommandCall): void | Promise<void> {
  const [sign, reference] = [call.params[0]?.[0], call.params[0]?.slice(1) ?? ""];
  if (sign === "+") return begin(call, reference);
  if (sign === "-") return end(call, reference);
  const { code, text } = invalid("A batch begins with + and ends with -");
  call.reply.fail("BATCH", code, [], text);
}

/** If it cannot begin, the client's next lines still belong to it, as a failed batch. */
function begin({ state, client, params, tags, reply }: CommandCall, reference: string): void {
  const [, type, target = ""] = params;
  const open = client.batch;
  if (open !== null && !open.failed) {
    failBatch(state, client, open, invalid("A batch ends before another begins"));
  }
  const batch: ClientBatch = {
    reference,
    target,
    tags,
    label: reply.takeLabel(),
    startedAt: state.now(),
    lines: [],
    bytes: 0,
    failed: false,
  };
  client.batch = batch;
  if (type !== MULTILINE_BATCH) {
    failBatch(state, client, batch, invalid(`Batches are of the type ${MULTILINE_BATCH}`));
  } else if (target === "" || target.includes(",")) {
    failBatch(state, client, batch, invalid("A batch has one target"));
  }
}

function end(call: CommandCall, reference: string): void | Promise<void> {
  const { state, client, reply } = call;
  const { batch } = client;
  client.batch = null;
  if (batch === null) {
    const { code, text } = invalid("There is no batch to end");
    return reply.fail("BATCH", code, [], text);
  }
  if (batch.failed) return;
  if (reference !== batch.reference) {
    return failBatch(state, client, batch, invalid("Another batch is open"));
  }
  const { lines, target, tags, label } = batch;
  if (lines.every(({ text }) => text === "")) {
    return failBatch(state, client, batch, invalid("The message is empty"));
  }
  const answer = new Reply(state, client, label);
  const message = { state, client, command: "PRIVMSG", params: [target], tags, reply: answer };
  const pending = sendLines(message, target, lines);
  if (!pending) return answer.finish();
  return pending.then(() => answer.finish());
}
