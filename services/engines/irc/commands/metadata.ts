/** METADATA (IRCv3 "metadata", second and third draft). */

import {
  Cap,
  METADATA_KEYS,
  METADATA_SUBSCRIPTIONS,
  METADATA_VALUE_BYTES,
} from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { isMetadataKey, type MetadataTarget } from "../metadata/metadata.ts";
import {
  currentValues,
  metadataName,
  sendCurrent,
  sightOf,
  tellChange,
  valueNumeric,
} from "../metadata/notices.ts";
import { looksLikeChannel } from "../protocol/names.ts";
import {
  ERR_NEEDMOREPARAMS,
  RPL_METADATASUBOK,
  RPL_METADATASUBS,
  RPL_METADATASYNCLATER,
  RPL_METADATAUNSUBOK,
} from "../protocol/numerics.ts";
import type { Outbound } from "../outbound.ts";
import { encodedLength } from "../protocol/text.ts";
import { Channel, type Client } from "../members.ts";

/** Keys in one line of an answer: no message has more than 15 parameters. */
const KEYS_PER_LINE = 10;

type Subcommand = (call: CommandCall, target: MetadataTarget) => void | Promise<void>;

interface SubcommandDefinition {
  readonly handler: Subcommand;
  readonly needsKey?: boolean;
}

const SUBCOMMANDS: ReadonlyMap<string, SubcommandDefinition> = new Map([
  ["CLEAR", { handler: clear }],
  ["GET", { handler: get, needsKey: true }],
  ["LIST", { handler: list }],
  ["SET", { handler: set, needsKey: true }],
  ["SUB", { handler: subscribe, needsKey: true }],
  ["SUBS", { handler: subscriptions }],
  ["SYNC", { handler: sync }],
  ["UNSUB", { handler: unsubscribe, needsKey: true }],
]);

/** METADATA target CLEAR|GET|LIST|SET|SUB|SUBS|SYNC|UNSUB [key{ key}]. */
export function metadata(call: CommandCall): void | Promise<void> {
  const { command, params, reply } = call;
  const [name = "", subcommand = "", key] = params;
  const definition = SUBCOMMANDS.get(subcommand.toUpperCase());
  if (!definition) {
    return fail(call, "SUBCOMMAND_INVALID", [subcommand], "There is no such subcommand");
  }
  if (definition.needsKey && key === undefined) {
    return reply.numeric(ERR_NEEDMOREPARAMS, command);
  }
  const target = findTarget(call, name);
  if (!target) return fail(call, "INVALID_TARGET", [name], "There is no such user or channel");
  return definition.handler(call, target);
}

/** An unregistered client can only target itself. */
function findTarget({ state, client }: CommandCall, name: string): MetadataTarget | undefined {
  if (name === "*") return client;
  if (!client.registered) return undefined;
  if (!looksLikeChannel(name)) return state.findClient(name);
  const channel = state.findChannel(name);
  return channel?.isVisibleTo(client) ? channel : undefined;
}

/** The codes of the third draft, where they differ. */
const THIRD_DRAFT: ReadonlyMap<string, string> = new Map([
  ["KEY_INVALID", "INVALID_KEY"],
  ["SUBCOMMAND_INVALID", "INVALID_PARAMS"],
  ["TOO_MANY_SUBS", "LIMIT_REACHED"],
  ["VALUE_INVALID", "INVALID_VALUE"],
]);

function failure(
  { state, client, command }: CommandCall,
  code: string,
  context: readonly string[],
  text: string,
): Outbound {
  const third = client.hasCapability(Cap.METADATA_3) ? THIRD_DRAFT.get(code) : undefined;
  const params = [command, third ?? code, ...context];
  return state.messageFromServer("FAIL", { params, text });
}

function fail(call: CommandCall, code: string, context: readonly string[], text: string): void {
  call.reply.message(failure(call, code, context, text));
}

function invalidKey(call: CommandCall, key: string): Outbound {
  const text = "A key has 1 to 32 characters of a-z, 0-9 and _./-";
  return failure(call, "KEY_INVALID", [key === "" || key.includes(" ") ? "*" : key], text);
}

/** Members see a channel's values; others see them if the channel is open to them. */
function mayRead(client: Client, target: MetadataTarget): boolean {
  if (!(target instanceof Channel)) return true;
  return client.isOperator || client.privileged || target.members.has(client) ||
    target.isOpenTo(client);
}

function mayChange(client: Client, target: MetadataTarget): boolean {
  if (client.isOperator || client.privileged || target === client) return true;
  return target instanceof Channel && target.isOperator(client);
}

function refuse(call: CommandCall, target: MetadataTarget, key: string): void {
  const text = "You may not do this";
  fail(call, "KEY_NO_PERMISSION", [metadataName(target), key], text);
}

function get(call: CommandCall, target: MetadataTarget): void | Promise<void> {
  const { state, client, params, reply } = call;
  if (!mayRead(client, target)) return refuse(call, target, "*");
  const values = state.metadata.valuesOf(target);
  const answers = params.slice(2).map((key) =>
    isMetadataKey(key)
      ? valueNumeric(state, client, target, key, values.get(key) ?? null)
      : invalidKey(call, key)
  );
  return reply.batch("metadata", [metadataName(target)], answers);
}

function list(call: CommandCall, target: MetadataTarget): void | Promise<void> {
  const { state, client, reply } = call;
  if (!mayRead(client, target)) return refuse(call, target, "*");
  const answers = Array.from(
    state.metadata.valuesOf(target),
    ([key, value]) => valueNumeric(state, client, target, key, value),
  );
  return reply.batch("metadata", [metadataName(target)], answers);
}

function set(call: CommandCall, target: MetadataTarget): void {
  const { state, client, params, reply } = call;
  const [, , key = "", value = null] = params;
  if (!isMetadataKey(key)) return reply.message(invalidKey(call, key));
  if (!mayChange(client, target)) return refuse(call, target, key);
  if (!isItsTurn(call, target, key)) return;
  const isThird = client.hasCapability(Cap.METADATA_3);
  const changed = value === null || (isThird && value === "")
    ? unset(call, target, key, isThird)
    : store(call, target, key, value);
  if (!changed) return;
  const present = state.metadata.valuesOf(target).get(key) ?? null;
  reply.message(valueNumeric(state, client, target, key, present));
}

/**
 * Removes a value. Otherwise tells the client and returns false; in the third draft this always
 * succeeds.
 */
function unset(call: CommandCall, target: MetadataTarget, key: string, always: boolean): boolean {
  const { state, client } = call;
  if (state.metadata.unset(target, key)) tellChange(state, client, target, key, null);
  else if (!always) {
    fail(call, "KEY_NOT_SET", [metadataName(target), key], "The key is not set");
    return false;
  }
  return true;
}

function store(call: CommandCall, target: MetadataTarget, key: string, value: string): boolean {
  const { state, client } = call;
  if (encodedLength(value) > METADATA_VALUE_BYTES) {
    const text = `A value has at most ${METADATA_VALUE_BYTES} bytes`;
    const context = client.hasCapability(Cap.METADATA_3) ? [key] : [];
    fail(call, "VALUE_INVALID", context, text);
    return false;
  }
  const before = state.metadata.valuesOf(target).get(key);
  if (!state.metadata.set(target, key, value)) {
    const name = metadataName(target);
    const context = client.hasCapability(Cap.METADATA_3) ? [name, `${METADATA_KEYS}`] : [name];
    fail(call, "LIMIT_REACHED", context, `There are at most ${METADATA_KEYS} keys`);
    return false;
  }
  if (before !== value) tellChange(state, client, target, key, value);
  return true;
}

function clear(call: CommandCall, target: MetadataTarget): void | Promise<void> {
  const { state, client, reply } = call;
  if (!mayChange(client, target)) return refuse(call, target, "*");
  if (!isItsTurn(call, target, "*")) return;
  const keys = state.metadata.clear(target);
  for (const key of keys) tellChange(state, client, target, key, null);
  const answers = keys.map((key) => valueNumeric(state, client, target, key, null));
  return reply.batch("metadata", [metadataName(target)], answers);
}

/** Whether the client may make a change now; otherwise tells it when it may. */
function isItsTurn(call: CommandCall, target: MetadataTarget, key: string): boolean {
  const seconds = String(secondsToWait(call));
  if (seconds === "0") return true;
  const text = `Too many changes, try again in ${seconds} seconds`;
  fail(call, "RATE_LIMITED", [metadataName(target), key, seconds], text);
  return false;
}

function secondsToWait({ state, client }: CommandCall): number {
  return client.privileged ? 0 : Math.ceil(state.metadata.take(client, state.now()) / 1000);
}

function subscribe(call: CommandCall): void {
  const { state, client, params, reply } = call;
  const before = new Set(state.metadata.subscriptionsOf(client));
  const taken = new Set<string>();
  let refused: string | null = null;
  for (const key of params.slice(2)) {
    if (!isMetadataKey(key)) {
      reply.message(invalidKey(call, key));
    } else if (state.metadata.subscribe(client, key)) {
      taken.add(key);
    } else {
      refused = key;
      break;
    }
  }
  sendKeys(call, RPL_METADATASUBOK, taken);
  if (refused !== null) {
    const isThird = client.hasCapability(Cap.METADATA_3);
    const context = isThird ? [refused, `${METADATA_SUBSCRIPTIONS}`] : [refused];
    const text = `You can subscribe to at most ${METADATA_SUBSCRIPTIONS} keys`;
    fail(call, "TOO_MANY_SUBS", context, text);
  }
  sendAllCurrent(call, taken.difference(before));
}

/** Sends the values of newly subscribed keys, or the time at which the client may request them. */
function sendAllCurrent(call: CommandCall, keys: ReadonlySet<string>): void {
  const { state, client, reply } = call;
  if (!client.registered || keys.size === 0) return;
  const delay = secondsToWait(call);
  if (delay > 0) {
    const names = [client, ...client.channels].map(metadataName);
    return names.forEach((name) => reply.numeric(RPL_METADATASYNCLATER, name, String(delay)));
  }
  sendCurrent(call, client.nick, [client], keys);
  for (const channel of client.channels) {
    sendCurrent(call, channel.name, sightOf(channel, client), keys);
  }
  for (const nick of state.monitors.nicksOf(client)) {
    const user = state.findClient(nick);
    if (user) sendCurrent(call, user.nick, [user], keys);
  }
}

function unsubscribe(call: CommandCall): void {
  const { state, client, params, reply } = call;
  const left = new Set<string>();
  for (const key of params.slice(2)) {
    if (!isMetadataKey(key)) {
      reply.message(invalidKey(call, key));
      continue;
    }
    state.metadata.unsubscribe(client, key);
    left.add(key);
  }
  sendKeys(call, RPL_METADATAUNSUBOK, left);
}

function subscriptions({ state, client, reply }: CommandCall): Promise<void> {
  const lines = linesOf(state.metadata.subscriptionsOf(client)).map((keys) =>
    state.messageFromServer(RPL_METADATASUBS.code, { params: [client.nick, ...keys] })
  );
  return reply.batch("metadata-subs", [], lines);
}

function sync(call: CommandCall, target: MetadataTarget): void | Promise<void> {
  const { state, client, reply } = call;
  if (!mayRead(client, target)) return refuse(call, target, "*");
  const delay = secondsToWait(call);
  const name = metadataName(target);
  if (delay > 0) return reply.numeric(RPL_METADATASYNCLATER, name, String(delay));
  const isMember = target instanceof Channel && target.members.has(client);
  const targets = isMember ? sightOf(target, client) : [target];
  return reply.batch("metadata", [name], currentValues(state, client, targets));
}

function sendKeys(
  { reply }: CommandCall,
  numeric: typeof RPL_METADATASUBOK,
  keys: ReadonlySet<string>,
): void {
  for (const line of linesOf(keys)) reply.numeric(numeric, ...line);
}

function linesOf(keys: ReadonlySet<string>): string[][] {
  const all = [...keys];
  const lines: string[][] = [];
  for (let index = 0; index < all.length; index += KEYS_PER_LINE) {
    lines.push(all.slice(index, index + KEYS_PER_LINE));
  }
  return lines;
}
