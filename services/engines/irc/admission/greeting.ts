/** The welcome of a client whose registration is complete. */

import type { CommandCall } from "../command.ts";
import { isupportTokens } from "../isupport.ts";
import { sendOwnMetadata } from "../metadata/notices.ts";
import { channelModeLetters, formatUserModes, USER_MODES } from "../channels/modes.ts";
import {
  ERR_NOMOTD,
  RPL_CREATED,
  RPL_ENDOFMOTD,
  RPL_GLOBALUSERS,
  RPL_ISUPPORT,
  RPL_LOCALUSERS,
  RPL_LUSERCHANNELS,
  RPL_LUSERCLIENT,
  RPL_LUSERME,
  RPL_LUSEROP,
  RPL_LUSERUNKNOWN,
  RPL_MOTD,
  RPL_MOTDSTART,
  RPL_MYINFO,
  RPL_UMODEIS,
  RPL_WELCOME,
  RPL_YOURHOST,
} from "../protocol/numerics.ts";

/** Tokens of one 005 line, as modern.ircdocs.horse has it. */
const TOKENS_PER_LINE = 13;

/** Name and version if the program gave none. */
export const DEFAULT_VERSION = "muster";

/** 001 to 005, LUSERS and MOTD. */
export function sendGreeting(call: CommandCall): void {
  const { state, client, reply } = call;
  const { serverName, networkName, version = DEFAULT_VERSION } = state.options;
  const created = new Date(state.startedAt).toISOString();
  reply.numericText(RPL_WELCOME, [], `Welcome to the ${networkName} network, ${client.mask}`);
  reply.numericText(RPL_YOURHOST, [], `Your host is ${serverName}, running ${version}`);
  reply.numericText(RPL_CREATED, [], `This server was started at ${created}`);
  reply.numeric(
    RPL_MYINFO,
    serverName,
    version,
    [...USER_MODES.keys()].join(""),
    channelModeLetters("list", "key", "setting", "flag", "status"),
    channelModeLetters("list", "key", "setting", "status"),
  );
  sendIsupport(call);
  sendLusers(call);
  sendOwnMetadata(call);
  sendMotd(call);
  if (client.modes !== 0) reply.numeric(RPL_UMODEIS, formatUserModes(client.modes));
}

export function sendIsupport({ state, reply }: CommandCall): void {
  const tokens = isupportTokens(state);
  for (let index = 0; index < tokens.length; index += TOKENS_PER_LINE) {
    reply.numeric(RPL_ISUPPORT, ...tokens.slice(index, index + TOKENS_PER_LINE));
  }
}

export function sendLusers({ state, reply }: CommandCall): void {
  const users = state.registeredCount;
  let operators = 0;
  let invisible = 0;
  for (const client of state.clients) {
    if (!client.registered) continue;
    if (client.isOperator) operators++;
    if (client.isInvisible) invisible++;
  }
  const visible = users - invisible;
  const most = state.mostRegistered;
  reply.numericText(
    RPL_LUSERCLIENT,
    [],
    `There are ${visible} users and ${invisible} invisible on 1 servers`,
  );
  reply.numeric(RPL_LUSEROP, String(operators));
  reply.numeric(RPL_LUSERUNKNOWN, String(state.clients.size - users));
  reply.numeric(RPL_LUSERCHANNELS, String(state.channels.size));
  reply.numericText(RPL_LUSERME, [], `I have ${users} clients and 0 servers`);
  const [now, max] = [String(users), String(most)];
  reply.numericText(RPL_LOCALUSERS, [now, max], `Current local users ${now}, max ${max}`);
  reply.numericText(RPL_GLOBALUSERS, [now, max], `Current global users ${now}, max ${max}`);
}

export function sendMotd({ state, reply }: CommandCall): void {
  const { motd, serverName } = state.options;
  if (!motd) return reply.numeric(ERR_NOMOTD);
  reply.numericText(RPL_MOTDSTART, [], `- ${serverName} Message of the day -`);
  for (const line of motd.trimEnd().split(/\r?\n/)) reply.numericText(RPL_MOTD, [], `- ${line}`);
  reply.numeric(RPL_ENDOFMOTD);
}
