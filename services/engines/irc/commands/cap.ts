/**
 * Capability negotiation: what the server offers, and what a client requests (IRCv3
 * capability-negotiation). To add a capability, add its bit to `protocol/capabilities.ts` and its
 * entry here.
 */

import {
  Cap,
  METADATA_KEYS,
  METADATA_SUBSCRIPTIONS,
  METADATA_VALUE_BYTES,
} from "../protocol/capabilities.ts";
import type { ServerState } from "../state.ts";
import type { CommandCall } from "../command.ts";
import { ERR_INVALIDCAPCMD } from "../protocol/numerics.ts";
import { tryRegister } from "../admission/registration.ts";
import type { Client } from "../members.ts";

/** Most bytes of the list in a CAP line, so that the line stays below the classic limit. */
const LIST_BYTES = 400;

/** The version since which capabilities have values and clients receive changes. */
const VERSION_302 = 302;

/** One capability. A client's set of them is the sum of their bits. */
interface Capability {
  readonly bit: number;
  /** What `CAP LS 302` shows after the equals sign. */
  readonly value?: string | ((state: ServerState, client: Client) => string);
  /** Whether the client is offered it; default yes. */
  readonly isOffered?: (state: ServerState, client: Client) => boolean;
  /** Whether it only announces its value and cannot be requested; default no. */
  readonly tellsOnly?: boolean;
}

const METADATA_LIMITS = [
  "before-connect",
  `max-keys=${METADATA_KEYS}`,
  `max-subs=${METADATA_SUBSCRIPTIONS}`,
  `max-value-bytes=${METADATA_VALUE_BYTES}`,
].join(",");

/**
 * In the order of the list. Some clients read only its first line, so it begins with the essential
 * ones.
 */
const CAPABILITIES: ReadonlyMap<string, Capability> = new Map<string, Capability>([
  ["sasl", { bit: Cap.SASL, value: (state) => saslMechanisms(state).join(",") }],
  ["message-tags", { bit: Cap.MESSAGE_TAGS }],
  ["echo-message", { bit: Cap.ECHO_MESSAGE }],
  ["server-time", { bit: Cap.SERVER_TIME }],
  ["account-notify", { bit: Cap.ACCOUNT_NOTIFY }],
  ["account-tag", { bit: Cap.ACCOUNT_TAG }],
  ["away-notify", { bit: Cap.AWAY_NOTIFY }],
  ["batch", { bit: Cap.BATCH }],
  ["cap-notify", { bit: Cap.CAP_NOTIFY }],
  ["chghost", { bit: Cap.CHGHOST }],
  ["draft/account-registration", {
    bit: Cap.ACCOUNT_REGISTRATION,
    value: ({ registersBeforeConnect }) =>
      `${registersBeforeConnect ? "before-connect," : ""}custom-account-name`,
    isOffered: ({ options }) => options.accounts.register !== undefined,
  }],
  ["draft/channel-rename", { bit: Cap.CHANNEL_RENAME }],
  ["draft/chathistory", { bit: Cap.CHATHISTORY }],
  ["draft/event-playback", { bit: Cap.EVENT_PLAYBACK }],
  ["draft/message-redaction", { bit: Cap.MESSAGE_REDACTION }],
  ["draft/metadata-2", { bit: Cap.METADATA_2, value: METADATA_LIMITS }],
  ["draft/metadata-3", { bit: Cap.METADATA_3, value: METADATA_LIMITS }],
  ["draft/multiline", {
    bit: Cap.MULTILINE,
    value: ({ limits }) => `max-bytes=${limits.multilineBytes},max-lines=${limits.multilineLines}`,
    isOffered: ({ limits }) => limits.multilineLines > 0,
  }],
  ["draft/no-implicit-names", { bit: Cap.NO_IMPLICIT_NAMES }],
  ["draft/pre-away", { bit: Cap.PRE_AWAY }],
  ["draft/read-marker", { bit: Cap.READ_MARKER }],
  ["draft/relaymsg", { bit: Cap.RELAYMSG, value: "/" }],
  ["extended-join", { bit: Cap.EXTENDED_JOIN }],
  ["extended-monitor", { bit: Cap.EXTENDED_MONITOR }],
  ["invite-notify", { bit: Cap.INVITE_NOTIFY }],
  ["labeled-response", { bit: Cap.LABELED_RESPONSE }],
  ["multi-prefix", { bit: Cap.MULTI_PREFIX }],
  ["muster/envelopes", { bit: Cap.ENVELOPES }],
  ["no-implicit-names", { bit: Cap.NO_IMPLICIT_NAMES }],
  ["setname", { bit: Cap.SETNAME }],
  ["standard-replies", { bit: Cap.STANDARD_REPLIES }],
  ["sts", {
    bit: 0,
    value: (state, client) => stsValue(state, client) ?? "",
    isOffered: (state, client) => stsValue(state, client) !== null,
    tellsOnly: true,
  }],
  ["userhost-in-names", { bit: Cap.USERHOST_IN_NAMES }],
]);

/** The value of `sts`: the duration for clients with TLS, and the port for others. */
function stsValue({ options: { sts }, tlsPort }: ServerState, client: Client): string | null {
  if (!sts) return null;
  const { kind } = client.transport;
  if (kind === "tls") return `duration=${sts.durationSeconds}`;
  const port = sts.port ?? tlsPort;
  return kind === "tcp" && port !== null ? `port=${port}` : null;
}

/** The SASL mechanisms by which clients can log in. */
export function saslMechanisms({ options }: ServerState): string[] {
  return options.accounts.scram ? ["PLAIN", "SCRAM-SHA-256"] : ["PLAIN"];
}

/** The capability of this name, if the client may request it. */
function requestable(
  state: ServerState,
  client: Client,
  name: string,
): Capability | undefined {
  const capability = CAPABILITIES.get(name);
  if (capability?.tellsOnly || capability?.isOffered?.(state, client) === false) return undefined;
  return capability;
}

/** The names that a client is offered, each with its value if `withValues`. */
function offeredCapabilities(
  state: ServerState,
  client: Client,
  withValues: boolean,
): string[] {
  const names: string[] = [];
  for (const [name, { value, isOffered, tellsOnly }] of CAPABILITIES) {
    if (isOffered && !isOffered(state, client)) continue;
    if (tellsOnly && !withValues) continue;
    if (value === undefined || !withValues) names.push(name);
    else names.push(`${name}=${typeof value === "string" ? value : value(state, client)}`);
  }
  return names;
}

/** Names of the capabilities whose bits are set. */
function capabilityNames(bits: number): string[] {
  const names: string[] = [];
  for (const [name, { bit }] of CAPABILITIES) {
    if (bits & bit) names.push(name);
  }
  return names;
}

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
