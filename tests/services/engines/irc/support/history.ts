import assert from "node:assert/strict";
import type { Message } from "../../../../../services/engines/irc/protocol/message.ts";
import type { TestClient } from "./client.ts";

/** What one CHATHISTORY gives, having looked at the frame of its batch. */
export async function readBatch(
  client: TestClient,
  request: string,
  type = "chathistory",
): Promise<Message[]> {
  client.send(`CHATHISTORY ${request}`);
  const [start, ...messages] = await client.syncMessages();
  const end = messages.pop();
  const reference = start?.params[0]?.slice(1);
  assert.deepEqual([start?.command, start?.params[1]], ["BATCH", type], request);
  assert.deepEqual(end?.params, [`-${reference}`]);
  for (const { tags } of messages) assert.equal(tags.get("batch"), reference);
  return messages;
}

/** What a message says, whatever batch or label it comes with. */
export function essence(message: Message | undefined): (string | undefined)[] {
  return [
    message?.source ?? undefined,
    message?.command,
    message?.tags.get("msgid"),
    message?.tags.get("time"),
    ...message?.params ?? [],
  ];
}

/** The last parameters of messages. */
export function texts(messages: readonly Message[]): string[] {
  return messages.map(({ params }) => params.at(-1) ?? "");
}
