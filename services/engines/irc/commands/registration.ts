import { logIn, verifyPassword, whyNotChecked } from "../admission/login.ts";
import {
  changeNick,
  isServerPassword,
  refusePassword,
  tryRegister,
} from "../admission/registration.ts";
import type { CommandCall } from "../command.ts";
import { isNick, REALNAME_LENGTH, USER_LENGTH } from "../protocol/names.ts";
import {
  ERR_ALREADYREGISTERED,
  ERR_ERRONEUSNICKNAME,
  ERR_NEEDMOREPARAMS,
  ERR_NONICKNAMEGIVEN,
} from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";

/** The name and password of an account, in place of the server's password. */
const ACCOUNT_PASSWORD = /^([^:]+):(.+)$/s;

/**
 * PASS password: the server's, before NICK and USER. PASS account:password logs in, for clients that
 * have no SASL.
 */
export function pass(call: CommandCall): void | Promise<void> {
  const { state, client, params, reply } = call;
  if (!client.registration) return reply.numeric(ERR_ALREADYREGISTERED);
  const [given = ""] = params;
  client.registration.password = given;
  const [, name, password] = ACCOUNT_PASSWORD.exec(given) ?? [];
  if (name === undefined || password === undefined || !isNick(name)) return;
  if (client.account !== null || isServerPassword(state, given)) return;
  return logInByPass(call, name, password);
}

async function logInByPass(call: CommandCall, name: string, password: string): Promise<void> {
  const { state, client } = call;
  const result = await verifyPassword(state, name, password, client.transport.address);
  if (client.quitReason !== null) return;
  if (result.kind === "accepted") return logIn(call, result.account);
  refusePassword(call, whyNotChecked(result) ?? undefined);
}

/** NICK nick. Before registration it checks only the form; the end of registration checks the rest. */
export function nick(call: CommandCall): void {
  const { client, params, reply } = call;
  const wanted = params[0] ?? "";
  if (wanted === "") return reply.numeric(ERR_NONICKNAMEGIVEN);
  if (!isNick(wanted)) return reply.numeric(ERR_ERRONEUSNICKNAME, wanted);
  if (!client.registration) return changeNick(call, wanted);
  client.registration.nick = wanted;
  tryRegister(call);
}

/** USER name 0 * :real name. */
export function user(call: CommandCall): void {
  const { client, command, params, reply } = call;
  const { registration } = client;
  if (!registration) return reply.numeric(ERR_ALREADYREGISTERED);
  const [name = "", , , realname = ""] = params;
  if (name === "" || realname === "") return reply.numeric(ERR_NEEDMOREPARAMS, command);
  registration.user = cleanUserName(name);
  registration.realname = realname.slice(0, REALNAME_LENGTH);
  tryRegister(call);
}

/** A valid user name; `~` marks it as unverified. */
function cleanUserName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9._-]/g, "").slice(0, USER_LENGTH - 1);
  return `~${name || "user"}`;
}

/** PING token: PONG with the token, at once. */
export function ping({ state, params, reply }: CommandCall): void {
  reply.command("PONG", [state.serverName], params[0]);
}

/** PONG needs no handling: any received line shows that the client is alive. */
export function pong(): void {}

/** QUIT [reason]. The reason is marked, so that a client cannot pretend to have been killed. */
export function quit({ state, client, params }: CommandCall): void {
  const reason = truncate(params[0] ?? "", state.limits.reasonBytes);
  state.disconnect(client, reason === "" ? "Client quit" : `Quit: ${reason}`);
}
