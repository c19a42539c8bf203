/** The capabilities that clients can request. To add one, add an entry here. */

import type { Client } from "../client.ts";
import type { ServerState } from "../state.ts";

/** Keys that one user or channel may have; announced as `max-keys`. */
export const METADATA_KEYS = 20;

/** Keys that one client may subscribe to; announced as `max-subs`. */
export const METADATA_SUBSCRIPTIONS = 50;

/** Longest value, in bytes; announced as `max-value-bytes`. A classic line has room for it. */
export const METADATA_VALUE_BYTES = 300;

/** One capability. A client's set of them is the sum of their bits. */
export interface Capability {
  readonly bit: number;
  /** What `CAP LS 302` shows after the equals sign. */
  readonly value?: string | ((state: ServerState, client: Client) => string);
  /** Whether the client is offered it; default yes. */
  readonly isOffered?: (state: ServerState, client: Client) => boolean;
  /** Whether it only announces its value and cannot be requested; default no. */
  readonly tellsOnly?: boolean;
}

export const Cap = {
  ACCOUNT_NOTIFY: 1 << 0,
  ACCOUNT_TAG: 1 << 1,
  AWAY_NOTIFY: 1 << 2,
  BATCH: 1 << 3,
  CAP_NOTIFY: 1 << 4,
  ECHO_MESSAGE: 1 << 5,
  EXTENDED_JOIN: 1 << 6,
  INVITE_NOTIFY: 1 << 7,
  LABELED_RESPONSE: 1 << 8,
  MESSAGE_TAGS: 1 << 9,
  MULTI_PREFIX: 1 << 10,
  SASL: 1 << 11,
  SERVER_TIME: 1 << 12,
  SETNAME: 1 << 13,
  STANDARD_REPLIES: 1 << 14,
  USERHOST_IN_NAMES: 1 << 15,
  CHATHISTORY: 1 << 16,
  EVENT_PLAYBACK: 1 << 17,
  EXTENDED_MONITOR: 1 << 18,
  ACCOUNT_REGISTRATION: 1 << 19,
  METADATA_2: 1 << 20,
  METADATA_3: 1 << 21,
  RELAYMSG: 1 << 22,
  ENVELOPES: 1 << 23,
  MESSAGE_REDACTION: 1 << 24,
  MULTILINE: 1 << 25,
  READ_MARKER: 1 << 26,
  CHANNEL_RENAME: 1 << 27,
  CHGHOST: 1 << 28,
  NO_IMPLICIT_NAMES: 1 << 29,
  PRE_AWAY: 1 << 30,
} as const;

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
export const CAPABILITIES: ReadonlyMap<string, Capability> = new Map<string, Capability>([
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
export function requestable(
  state: ServerState,
  client: Client,
  name: string,
): Capability | undefined {
  const capability = CAPABILITIES.get(name);
  if (capability?.tellsOnly || capability?.isOffered?.(state, client) === false) return undefined;
  return capability;
}

/** The names that a client is offered, each with its value if `withValues`. */
export function offeredCapabilities(
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
export function capabilityNames(bits: number): string[] {
  const names: string[] = [];
  for (const [name, { bit }] of CAPABILITIES) {
    if (bits & bit) names.push(name);
  }
  return names;
}
