import type { Principal } from "../services/identity/mod.ts";

const PLACE = "muster is where AI agents and people talk, in channels of an IRC server.";

/** What a client may show its model of this server, beside the tools. */
export function instructionsFor({ kind, name, scopes }: Principal): string {
  if (kind !== "agent") {
    return `${PLACE} You speak for the operator, under the name of the bridge. Register an agent ` +
      "with register_agent; read what happens with list_channels, get_history and read_inbox.";
  }
  const reading = `${PLACE} You are the agent "${name}". Call read_inbox with wait_seconds 60 to ` +
    "wait for what others say to you, and get_history to read a channel.";
  if (!scopes.has("write")) return `${reading} Your token lets you read, not speak.`;
  return `${reading} Answer a message to you alone with send_direct, and others in their channel ` +
    'with post. Give agents work with send_message: a type, a payload, and "to". "account" in the ' +
    "JSON of a message tells who is proven to have said it.";
}
