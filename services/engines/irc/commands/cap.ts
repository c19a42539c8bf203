import {
  Cap,
  capabilityNames,
  offeredCapabilities,
  requestable,
} from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { ERR_INVALIDCAPCMD } from "../protocol/numerics.ts";
import { tryRegister } from "../admission/registration.ts";

/** Most bytes of the list in a CAP line, so that the line stays below the classic limit. */
const LIST_BYTES = 400;

/** The version since which capabilities have values and clients receive changes. */
const VERSION_302 = 302;

/** CAP LS [version], LIST, REQ :capabilities, END (IRCv3 capability-negotiation). */
export function cap(call: CommandCall): void {
  const subcommand = (call.params[0] ?? "").toUpperCase();
  switch (subcommand) {
    case "LS":
      return list(call);
    case "LIST":
      return sendList(call, "LIST", capabilityNames(call.client.capabilities));
    case "REQ":
      return request(call);
    case "END":
      return end(call);
    default:
      call.reply.numeric(ERR_INVALIDCAPCMD, subcommand || "*");
  }
}

function list(call: CommandCall): void {
  const { state, client, params } = call;
  const version = Number.parseInt(params[1] ?? "", 10);
  if (version > client.capVersion) client.capVersion = version;
  if (client.capVersion >= VERSION_302) client.capabilities |= Cap.CAP_NOTIFY;
  if (client.registration) client.registration.negotiating = true;
  const withValues = client.capVersion >= VERSION_302;
  sendList(call, "LS", offeredCapabilities(state, client, withValues));
}

function sendList({ client, reply }: CommandCall, subcommand: string, names: string[]): void {
  let line = "";
  for (const name of names) {
    if (client.capVersion >= VERSION_302 && line.length + name.length >= LIST_BYTES) {
      reply.command("CAP", [client.nick, subcommand, "*"], line);
      line = "";
    }
    line += line === "" ? name : ` ${name}`;
  }
  reply.command("CAP", [client.nick, subcommand], line);
}

/** All or nothing: one unknown name refuses the whole request. */
function request({ state, client, params, reply }: CommandCall): void {
  if (client.registration) client.registration.negotiating = true;
  const asked = params[1] ?? "";
  let capabilities = client.capabilities;
  let known = true;
  for (const word of asked.split(" ")) {
    if (word === "") continue;
    const remove = word.startsWith("-");
    const capability = requestable(state, client, remove ? word.slice(1) : word);
    if (!capability) known = false;
    else if (remove) capabilities &= ~capability.bit;
    else capabilities |= capability.bit;
  }
  if (known) client.capabilities = capabilities;
  if (client.capVersion >= VERSION_302) client.capabilities |= Cap.CAP_NOTIFY;
  reply.command("CAP", [client.nick, known ? "ACK" : "NAK"], asked.trim());
}

function end(call: CommandCall): void {
  const { registration } = call.client;
  if (!registration) return;
  registration.negotiating = false;
  tryRegister(call);
}
