/** The table of commands. To add a command is to add an entry here and its handler beside it. */

import type { CommandDefinition } from "../command.ts";
import { authenticate } from "./authenticate.ts";
import { cap } from "./cap.ts";
import { join, part } from "./membership.ts";
import { notice, privmsg, tagmsg } from "./messages.ts";
import { names } from "./names.ts";
import { nick, pass, user } from "./registration.ts";
import { ping, pong, quit } from "./session.ts";
import { topic } from "./topic.ts";

export const COMMANDS: ReadonlyMap<string, CommandDefinition> = new Map<string, CommandDefinition>([
  ["AUTHENTICATE", { handler: authenticate, minParams: 1, beforeRegistration: true }],
  ["CAP", { handler: cap, minParams: 1, beforeRegistration: true }],
  ["JOIN", { handler: join, minParams: 1 }],
  ["NAMES", { handler: names }],
  ["NICK", { handler: nick, beforeRegistration: true }],
  ["NOTICE", { handler: notice }],
  ["PART", { handler: part, minParams: 1 }],
  ["PASS", { handler: pass, minParams: 1, beforeRegistration: true }],
  ["PING", { handler: ping, minParams: 1, beforeRegistration: true, keepsIdle: true }],
  ["PONG", { handler: pong, beforeRegistration: true, keepsIdle: true, isAutomatic: always }],
  ["PRIVMSG", { handler: privmsg }],
  ["QUIT", { handler: quit, beforeRegistration: true }],
  ["TAGMSG", { handler: tagmsg, minParams: 1 }],
  ["TOPIC", { handler: topic, minParams: 1 }],
  ["USER", { handler: user, minParams: 4, beforeRegistration: true }],
]);

function always(): boolean {
  return true;
}
