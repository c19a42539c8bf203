/** The table of commands. To add a command is to add an entry here and its handler beside it. */

import type { CommandDefinition } from "../command.ts";
import { authenticate } from "./authenticate.ts";
import { cap } from "./cap.ts";
import { chathistory } from "./chathistory.ts";
import { ison, lusers, motd, time, userhost, version } from "./information.ts";
import { invite } from "./invite.ts";
import { kick } from "./kick.ts";
import { list } from "./list.ts";
import { join, part } from "./membership.ts";
import { notice, privmsg, tagmsg } from "./messages.ts";
import { mode } from "./mode.ts";
import { names } from "./names.ts";
import { oper } from "./operator.ts";
import { nick, pass, user } from "./registration.ts";
import { ping, pong, quit } from "./session.ts";
import { topic } from "./topic.ts";
import { away, setname } from "./user_state.ts";
import { isWhoOfOne, who } from "./who.ts";
import { whois } from "./whois.ts";

export const COMMANDS: ReadonlyMap<string, CommandDefinition> = new Map<string, CommandDefinition>([
  ["AUTHENTICATE", { handler: authenticate, minParams: 1, beforeRegistration: true }],
  ["AWAY", { handler: away }],
  ["CAP", { handler: cap, minParams: 1, beforeRegistration: true }],
  ["CHATHISTORY", { handler: chathistory }],
  ["INVITE", { handler: invite, minParams: 2 }],
  ["ISON", { handler: ison, minParams: 1, keepsIdle: true }],
  ["JOIN", { handler: join, minParams: 1 }],
  ["KICK", { handler: kick, minParams: 2 }],
  ["LIST", { handler: list }],
  ["LUSERS", { handler: lusers }],
  ["MODE", { handler: mode, minParams: 1 }],
  ["MOTD", { handler: motd }],
  ["NAMES", { handler: names }],
  ["NICK", { handler: nick, beforeRegistration: true }],
  ["NOTICE", { handler: notice }],
  ["OPER", { handler: oper, minParams: 2 }],
  ["PART", { handler: part, minParams: 1 }],
  ["PASS", { handler: pass, minParams: 1, beforeRegistration: true }],
  ["PING", { handler: ping, minParams: 1, beforeRegistration: true, keepsIdle: true }],
  ["PONG", { handler: pong, beforeRegistration: true, keepsIdle: true, isAutomatic: always }],
  ["PRIVMSG", { handler: privmsg }],
  ["QUIT", { handler: quit, beforeRegistration: true }],
  ["SETNAME", { handler: setname, minParams: 1 }],
  ["TAGMSG", { handler: tagmsg, minParams: 1 }],
  ["TIME", { handler: time }],
  ["TOPIC", { handler: topic, minParams: 1 }],
  ["USER", { handler: user, minParams: 4, beforeRegistration: true }],
  ["USERHOST", { handler: userhost, minParams: 1, keepsIdle: true }],
  ["VERSION", { handler: version }],
  ["WHO", { handler: who, keepsIdle: true, isAutomatic: isWhoOfOne }],
  ["WHOIS", { handler: whois }],
]);

function always(): boolean {
  return true;
}
