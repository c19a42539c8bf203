/** The end of registration, and the ownership of nicks. */

import { timingSafeEqual } from "node:crypto";
import { enforceBan } from "./bans.ts";
import { cloakAddress, isLoopback } from "../protocol/addresses.ts";
import type { CommandCall } from "../command.ts";
import { sendGreeting } from "./greeting.ts";
import { introduce } from "../metadata/notices.ts";
import { hush } from "./muting.ts";
import { Reply } from "../reply.ts";
import { foldCase } from "../protocol/names.ts";
import { ERR_NICKNAMEINUSE, ERR_PASSWDMISMATCH, ERR_SASLABORTED } from "../protocol/numerics.ts";
import type { ServerState } from "../state.ts";
import type { Client } from "../members.ts";

const encoder = new TextEncoder();

/** The share of the connections that guests may use. */
const GUEST_PART = 0.75;

/**
 * Completes the registration of a client that has sent everything needed; otherwise does nothing.
 */
export function tryRegister(call: CommandCall): void {
  const { state, client, reply } = call;
  const { registration } = client;
  if (!registration || registration.negotiating) return;
  if (registration.nick === null || registration.user === null) return;
  hush(state, client);
  const { nick, user, realname, password } = registration;

  if (client.sasl) {
    state.logins.endSasl(client);
    reply.numeric(ERR_SASLABORTED);
  }
  client.user = user;
  client.realname = realname;
  client.cloak = client.transport.internal
    ? state.serverName
    : cloakAddress(client.transport.address, state.cloakKey);
  client.host = client.cloak;
  if (enforceBan(state, client, nick)) return;
  if (!client.transport.internal && !mayEnter(call, password)) return;
  if (!claimNick(state, client, nick)) {
    registration.nick = null;
    return reply.numericText(ERR_NICKNAMEINUSE, [nick], nickRefusal(state, client, nick));
  }
  client.registration = null;
  const before = state.findClient(nick);
  if (before === undefined) state.setNick(client, nick);
  else state.succeed(before, client);
  sendGreeting(call);
  introduce(state, client, state.monitors.watchersOf(nick));
  observeSession(state, client);
}

/** Changes the nick of a registered client. */
export function changeNick(call: CommandCall, nick: string): void {
  const { state, client, reply } = call;
  if (nick === client.nick || enforceBan(state, client, nick)) return;
  if (!claimNick(state, client, nick)) {
    return reply.numericText(ERR_NICKNAMEINUSE, [nick], nickRefusal(state, client, nick));
  }
  takeNick(call, nick);
}

/**
 * Renames a client that uses the nick of a new account without being logged in to it. The client that
 * registers the account keeps its nick, because it is about to be logged in.
 */
export function freeNick(state: ServerState, account: string): void {
  const holder = state.findClient(account);
  if (holder === undefined || isSameAccount(account, holder.account)) return;
  if (holder.transport.internal || state.logins.isRegistering(holder, account)) return;
  const reply = new Reply(state, holder, null);
  const text = `The nick ${holder.nick} now belongs to an account, so you have another`;
  reply.command("NOTICE", [holder.nick], text);
  takeNick({ state, client: holder, reply }, guestNick(state));
}

/** A nick that nobody uses and nobody owns. */
function guestNick(state: ServerState): string {
  for (;;) {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const nick = `Guest${random}`;
    if (!state.findClient(nick) && state.options.accounts.ownerOf(nick) === null) return nick;
  }
}

/** Gives a registered client a free nick, and tells everybody who sees it. */
function takeNick(
  { state, client, reply }: Pick<CommandCall, "state" | "client" | "reply">,
  nick: string,
): void {
  const change = state.messageFrom(client, "NICK", { params: [], text: nick });
  const neighbours = state.neighboursOf(client);
  state.setNick(client, nick);
  for (const neighbour of neighbours) neighbour.send(change);
  for (const channel of client.channels) state.history.recordInChannel(channel, change);
  reply.message(change);
  introduce(state, client, state.monitors.watchersOf(nick));
}

/** Tells the observer that a client with an account is registered. */
export function observeSession(state: ServerState, client: Client): void {
  if (client.account === null || !client.registered) return;
  const { account, nick, transport: { address } } = client;
  state.observe((observer) => observer.sessionStarted?.({ account, nick, address }));
}

/**
 * Checks the server password and whether the client needs an account. Closes a client that may not
 * connect.
 */
function mayEnter({ state, client, reply }: CommandCall, password: string | null): boolean {
  if (client.account !== null) return true;
  const { requireAccount } = state.options;
  if (state.options.password && !isServerPassword(state, password ?? "")) {
    refusePassword({ state, client, reply });
    return false;
  }
  const required = requireAccount === "auto"
    ? !isLoopback(client.transport.address)
    : requireAccount;
  const refusal = required
    ? "You need to log in to an account with SASL"
    : isFullOfGuests(state)
    ? "There are too many guests; log in to an account with SASL"
    : null;
  if (refusal === null) return true;
  reply.fail("*", "ACCOUNT_REQUIRED", [], refusal);
  reply.finish();
  state.disconnect(client, refusal);
  return false;
}

/** Whether this is the password of the server, which has one. */
export function isServerPassword({ options }: ServerState, given: string): boolean {
  return options.password ? isSame(given, options.password) : false;
}

/** Closes the connection of a client with a wrong password. */
export function refusePassword(
  { state, client, reply }: Pick<CommandCall, "state" | "client" | "reply">,
  why = "Password incorrect",
): void {
  reply.numericText(ERR_PASSWDMISMATCH, [], why);
  reply.finish();
  state.disconnect(client, why);
}

/** Whether only the places kept for accounts are left. */
function isFullOfGuests({ limits, clients }: ServerState): boolean {
  const most = Math.ceil((limits.connections ?? Infinity) * GUEST_PART);
  if (clients.size <= most) return false;
  let guests = 0;
  for (const { registered, account, transport } of clients) {
    if (registered && account === null && !transport.internal) guests++;
  }
  return guests >= most;
}

/**
 * Frees the nick for the client if it can, and returns whether the client may have it. Disconnects a
 * client that uses the nick of the client's account, and older sessions of the same account. The
 * account's user without a connection keeps the nick until a client that registers succeeds it.
 */
export function claimNick(state: ServerState, client: Client, nick: string): boolean {
  const holder = state.findClient(nick);
  if (holder === client) return true;
  const owner = state.options.accounts.ownerOf(nick);
  const owns = owner !== null && isSameAccount(owner, client.account);
  if (owner !== null && !owns && !client.transport.internal) return false;
  if (!holder) return true;
  if (holder.transport.internal && !holder.virtual) return false;
  const sameAccount = holder.account !== null && isSameAccount(holder.account, client.account);
  if (!owns && !sameAccount) return false;
  const newer = "Replaced by a newer session of the same account";
  if (!holder.virtual) state.disconnect(holder, sameAccount ? newer : "Nick taken by its owner");
  const staying = state.findClient(nick);
  if (staying !== undefined && (client.registered || staying.nick !== nick)) {
    state.disconnect(staying, "Now connected to IRC");
  }
  return true;
}

function nickRefusal(state: ServerState, client: Client, nick: string): string {
  const owner = state.options.accounts.ownerOf(nick);
  return owner === null || isSameAccount(owner, client.account)
    ? "Nickname is already in use"
    : "Nickname is reserved for the account that owns it";
}

/** Compares names of accounts; null is none. */
export function isSameAccount(account: string, other: string | null): boolean {
  return other !== null && foldCase(account) === foldCase(other);
}

/** Compares in a time that reveals only the length. */
function isSame(given: string, wanted: string): boolean {
  const [left, right] = [encoder.encode(given), encoder.encode(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
