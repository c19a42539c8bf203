/** Calls of tools that a client does not list, and which its model cannot call by their names. */

import { z } from "zod";
import { ASKED_TOOLS } from "./asked_tools.ts";
import { isRecord } from "./json_rpc.ts";
import { lenientReader } from "./lenient_arguments.ts";
import { ownName } from "./names.ts";

/** The tool by which a model calls those that its client does not list. */
export const USE_TOOL = "use_tool";

const callSchema = z.object({
  name: z.string().regex(/^[a-z_]{1,64}$/),
  arguments: z.record(z.string(), z.unknown()),
});

const readCall = lenientReader(callSchema);

/**
 * A message in which a call through {@link USE_TOOL} is a call of the tool itself. A call of one that
 * clients ask their users for stays as it is, because this client has not asked.
 */
export function unwrapped(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(unwrapped);
  if (!isRecord(message) || message.method !== "tools/call" || !isRecord(message.params)) {
    return message;
  }
  const { params } = message;
  if (params.name !== USE_TOOL) return message;
  const { data: call } = callSchema.safeParse(readCall(params.arguments));
  if (call === undefined || call.name === USE_TOOL || ASKED_TOOLS.includes(ownName(call.name))) {
    return message;
  }
  return { ...message, params: { ...params, ...call } };
}
