/** Users of the server that execute the requests of others, such as NickServ. */

import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { changeNick, isSameAccount } from "../admission/registration.ts";
import { guardLogin, logIn, registerAccount } from "../admission/login.ts";
import { ERR_UNKNOWNCOMMAND } from "../protocol/numerics.ts";
import type { AccountRegistration, ObservedActor, Verification } from "../options.ts";
import { VirtualClient } from "./virtual_client.ts";
import type { ServerState } from "../state.ts";
import type { Client } from "../members.ts";

/** A service of the embedding program, which users send requests to. */
export interface Service {
  readonly nick: string;
  readonly realname: string;
  /**
   * Executes the request of a user. The user's later commands wait until it is done. An exception
   * is logged, and the user receives an internal error.
   *
   * @param text the request, which is never stored
   */
  handle(text: string, caller: ServiceCaller): void | Promise<void>;
}

/** Result of reclaiming a nick. */
export type ReleasedNick = "released" | "absent" | "own" | "refused";

/** The user that sent a command to a service, and what the service can do for that user. */
export class ServiceCaller {
  readonly #call: CommandCall;
  readonly #service: ServiceUser;

  constructor(call: CommandCall, service: ServiceUser) {
    this.#call = call;
    this.#service = service;
  }

  get nick(): string {
    return this.#call.client.nick;
  }

  get account(): string | null {
    return this.#call.client.account;
  }

  get address(): string {
    return this.#call.client.transport.address;
  }

  /** The user, for observers. */
  get actor(): ObservedActor {
    return this.#call.client.actor;
  }

  /** Whether it is an operator of the server. */
  get isOperator(): boolean {
    return this.#call.client.isOperator;
  }

  /** Whether it has left in the meantime. */
  get gone(): boolean {
    return this.#call.client.quitReason !== null;
  }

  /** Sends the user one NOTICE for each line. */
  reply(...lines: string[]): void {
    const { state, client, reply } = this.#call;
    for (const text of lines) {
      reply.message(state.messageFrom(this.#service, "NOTICE", { params: [client.nick], text }));
    }
  }

  /**
   * Logs the user in if the password is right. The result is `refused` if the account is
   * disconnected during the check.
   */
  async logIn(name: string, check: () => Promise<Verification>): Promise<Verification> {
    const result = await guardLogin(this.#call.state, name, check);
    if (result.kind === "accepted" && !this.gone) logIn(this.#call, result.account);
    return result;
  }

  /** Creates an account and logs the user in to it. */
  async register(name: string, password: string): Promise<AccountRegistration> {
    const { state, client } = this.#call;
    const result = await registerAccount(state, client, name, password);
    if (result.kind === "registered" && !this.gone) logIn(this.#call, result.account);
    return result;
  }

  /** Disconnects the client that uses a nick of the user's account. */
  release(nick: string): ReleasedNick {
    const { state, client } = this.#call;
    const holder = state.findClient(nick);
    if (holder === undefined) return this.#owns(nick) ? "absent" : "refused";
    if (holder === client) return "own";
    const same = client.account !== null && isSameAccount(client.account, holder.account);
    const kept = holder.transport.internal && !holder.virtual;
    if (kept || (!same && !this.#owns(nick))) return "refused";
    state.disconnect(holder, `Replaced by ${client.nick}`);
    return "released";
  }

  /** Changes the user's nick; sends the user 433 if it cannot have it. */
  takeNick(nick: string): void {
    changeNick(this.#call, nick);
  }

  /** Closes all other sessions of the user's account, and returns their number. */
  endOtherSessions(reason: string): number {
    const { state, client } = this.#call;
    if (client.account === null) return 0;
    const others = state.sessionsOf(client.account).filter((session) => session !== client);
    for (const session of others) state.disconnect(session, reason);
    return others.length;
  }

  #owns(nick: string): boolean {
    const { state, client } = this.#call;
    const owner = state.options.accounts.ownerOf(nick);
    return owner !== null && isSameAccount(owner, client.account);
  }
}

/** A service as a user of the server: without a connection, and not counted. */
export class ServiceUser extends VirtualClient {
  readonly service: Service;

  constructor(state: ServerState, service: Service) {
    super(state, { user: "services", realname: service.realname, bot: true });
    this.nick = service.nick;
    this.service = service;
  }
}

/**
 * Passes a message to a service, and to nobody else. A NOTICE or TAGMSG is no request, so that
 * answers are never answered.
 */
export function askService(
  call: CommandCall,
  user: ServiceUser,
  text: string,
): void | Promise<void> {
  const { state, client, command, reply } = call;
  if (command !== "PRIVMSG") return;
  if (client.hasCapability(Cap.ECHO_MESSAGE)) {
    reply.message(state.messageFrom(client, command, { params: [user.nick], text }));
  }
  return user.service.handle(text, new ServiceCaller(call, user));
}

/** A command that sends a message to a service, such as NS to NickServ. */
export function serviceCommand(nick: string): (call: CommandCall) => void | Promise<void> {
  return function askByCommand(call) {
    const { state, command, params, reply } = call;
    const user = state.findClient(nick);
    if (!isService(user)) return reply.numeric(ERR_UNKNOWNCOMMAND, command);
    return user.service.handle(params.join(" "), new ServiceCaller(call, user));
  };
}

/** Whether a user is a service. */
export function isService(user: Client | undefined): user is ServiceUser {
  return user instanceof ServiceUser;
}
