/** Notices of metadata: who receives them, as `draft/metadata-2` or as `draft/metadata-3`. */

import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import type { MetadataTarget } from "./metadata.ts";
import { RPL_KEYNOTSET, RPL_KEYVALUE, RPL_METADATASYNCLATER } from "../protocol/numerics.ts";
import type { Outbound } from "../outbound.ts";
import type { ServerState } from "../state.ts";
import { Channel, type Client } from "../members.ts";

/** Most values of one channel and its members that are sent without a request. */
const UNASKED_VALUES = 200;

/** Who sees everything. */
const EVERYBODY = "*";

/** Whether the client has a metadata capability, in either form. */
export function takesMetadata(client: Client): boolean {
  return client.hasCapability(Cap.METADATA_2 | Cap.METADATA_3);
}

/** The name of a target, as a client sees it. */
export function metadataName(target: MetadataTarget): string {
  return target instanceof Channel ? target.name : target.nick;
}

/** 761 with a value, or 766 if there is none. */
export function valueNumeric(
  state: ServerState,
  receiver: Client,
  target: MetadataTarget,
  key: string,
  value: string | null,
): Outbound {
  const params = [receiver.nick, metadataName(target), key];
  return value === null
    ? state.messageFromServer(RPL_KEYNOTSET.code, { params, text: "The key is not set" })
    : state.messageFromServer(RPL_KEYVALUE.code, { params: [...params, EVERYBODY], text: value });
}

/** The notice of a value, or of its absence: sent on a change, or in answer to SYNC. */
function valueNotice(
  state: ServerState,
  receiver: Client,
  target: MetadataTarget,
  key: string,
  value: string | null,
): Outbound {
  if (receiver.hasCapability(Cap.METADATA_3)) {
    return valueNumeric(state, receiver, target, key, value);
  }
  const params = [metadataName(target), key, EVERYBODY];
  return state.messageFromServer("METADATA", value === null ? { params } : { params, text: value });
}

/** Notifies those who see the target and subscribed to the key, except the author of the change. */
export function tellChange(
  state: ServerState,
  actor: Client,
  target: MetadataTarget,
  key: string,
  value: string | null,
): void {
  for (const receiver of audienceOf(state, target)) {
    if (receiver === actor || !subscribes(state, receiver, key)) continue;
    receiver.send(valueNotice(state, receiver, target, key, value));
  }
}

function audienceOf(state: ServerState, target: MetadataTarget): Iterable<Client> {
  if (target instanceof Channel) return target.listeners;
  const audience = state.neighboursOf(target);
  for (const watcher of state.monitors.watchersOf(target.nick)) audience.add(watcher);
  return audience.add(target);
}

function subscribes(state: ServerState, client: Client, key: string): boolean {
  return takesMetadata(client) && state.metadata.subscriptionsOf(client).has(key);
}

/** The current values of these targets that a client has subscribed to. */
export function* currentValues(
  state: ServerState,
  receiver: Client,
  targets: Iterable<MetadataTarget>,
  keys: ReadonlySet<string> = state.metadata.subscriptionsOf(receiver),
): Generator<Outbound> {
  for (const target of targets) {
    for (const [key, value] of state.metadata.valuesOf(target)) {
      if (keys.has(key)) yield valueNotice(state, receiver, target, key, value);
    }
  }
}

/** A channel and everybody in it, except for the client itself. */
export function* sightOf(channel: Channel, client: Client): Generator<MetadataTarget> {
  yield channel;
  for (const member of channel.members.keys()) if (member !== client) yield member;
}

/**
 * Adds the subscribed values of newly visible targets to the answer: as a batch under the name of
 * the first target, or, if there are too many, as a notice to request them (SYNC).
 */
export function sendCurrent(
  { state, client, reply }: CommandCall,
  name: string,
  targets: Iterable<MetadataTarget>,
  keys: ReadonlySet<string> = state.metadata.subscriptionsOf(client),
): void {
  if (keys.size === 0 || !takesMetadata(client)) return;
  const values: Outbound[] = [];
  for (const value of currentValues(state, client, targets, keys)) {
    values.push(value);
    if (values.length > UNASKED_VALUES) return reply.numeric(RPL_METADATASYNCLATER, name, "1");
  }
  if (values.length > 0) reply.nested("metadata", [name], values);
}

/** Sends a user's metadata to clients that see the user for the first time, if they subscribed. */
export function introduce(state: ServerState, user: Client, to: Iterable<Client>): void {
  if (state.metadata.valuesOf(user).size === 0) return;
  for (const receiver of to) {
    if (receiver === user || !takesMetadata(receiver)) continue;
    for (const value of currentValues(state, receiver, [user])) receiver.send(value);
  }
}

/** A client's own values, sent when it completes its registration. */
export function sendOwnMetadata({ state, client, reply }: CommandCall): void {
  if (!takesMetadata(client)) return;
  const values = Array.from(
    state.metadata.valuesOf(client),
    ([key, value]) => valueNotice(state, client, client, key, value),
  );
  reply.nested("metadata", [client.nick], values);
}
