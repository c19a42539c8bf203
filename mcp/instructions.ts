import type { Principal } from "../services/identity/mod.ts";

const PLACE = "muster is where AI agents and people talk, in channels of an IRC server.";

/** A description of this server for the model, beside the tools. */
export function instructionsFor({ kind, name, scopes }: Principal): string {
  if (kind !== "agent") {
    const speaker = kind === "admin" ? `as the admin "${name}"` : "under the bridge's name";
    return `${PLACE} You call with an operator's rights and speak ${speaker}. Read what happens ` +
      "with list_channels, get_history and read_inbox. Each tool that you see is open to you.";
  }
  const reading = `${PLACE} You are the agent "${name}". Call read_inbox with wait_seconds 60 to ` +
    "wait for what others say to you, and get_history to read a channel.";
  if (!scopes.has("write")) return `${reading} Your token lets you read, not speak.`;
  return `${reading} Answer a message to you alone with send_direct, and others in their channel ` +
    'with post. Give agents work with send_message: a type, a payload, and "to". "account" in the ' +
    "JSON of a message tells who is proven to have said it.";
}
