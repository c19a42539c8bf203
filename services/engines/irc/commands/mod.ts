/** The table of commands. To add a command, add an entry here and its handler beside it. */

import { Cap } from "../protocol/capabilities.ts";
import type { CommandDefinition } from "../command.ts";
import { serviceCommand } from "../users/service.ts";
import { authenticate } from "./authenticate.ts";
import { batch } from "./batch.ts";
import { cap } from "./cap.ts";
import { chathistory } from "./chathistory.ts";
import { chghost, kill, kline, oper, unkline, wallops } from "./operator.ts";
import {
  admin,
  info,
  ison,
  links,
  lusers,
  motd,
  stats,
  time,
  userhost,
  version,
} from "./server_queries.ts";
import { help } from "./help.ts";
import { invite, join, kick, part } from "./membership.ts";
import { list } from "./list.ts";
import { markread } from "./markread.ts";
import { notice, privmsg, relaymsg, tagmsg } from "./messages.ts";
import { metadata } from "./metadata.ts";
import { mode } from "./mode.ts";
import { monitor } from "./monitor.ts";
import { names } from "./names.ts";
import { redact } from "./redact.ts";
import { register, verify } from "./register.ts";
import { nick, pass, ping, pong, quit, user } from "./registration.ts";
import { rename } from "./rename.ts";
import { topic } from "./topic.ts";
import { away, setname } from "./user_state.ts";
import { isWhoOfOne, who, whois, whowas } from "./who.ts";
import {
  comingBack,
  existingChannels,
  fewerParameters,
  firstParameters,
  ownNick,
  readingMetadata,
  readingModes,
} from "./while_muted.ts";

export const COMMANDS: ReadonlyMap<string, CommandDefinition> = new Map<string, CommandDefinition>([
  ["ADMIN", { handler: admin, whileMuted: "all" }],
  ["AUTHENTICATE", {
    handler: authenticate,
    minParams: 1,
    beforeRegistration: true,
    whileMuted: "all",
  }],
  ["AWAY", { handler: away, beforeRegistration: true, whileMuted: comingBack }],
  ["BATCH", { handler: batch, minParams: 1, capability: Cap.MULTILINE, whileMuted: "all" }],
  ["CAP", { handler: cap, minParams: 1, beforeRegistration: true, whileMuted: "all" }],
  ["CHANSERV", { handler: serviceCommand("ChanServ"), minParams: 1 }],
  ["CHATHISTORY", { handler: chathistory, whileMuted: "all" }],
  ["CHGHOST", { handler: chghost, minParams: 2, operatorOnly: true }],
  ["CS", { handler: serviceCommand("ChanServ"), minParams: 1 }],
  ["HELP", { handler: help, whileMuted: "all" }],
  ["HELPOP", { handler: help, whileMuted: "all" }],
  ["INFO", { handler: info, whileMuted: "all" }],
  ["INVITE", { handler: invite, whileMuted: fewerParameters(1) }],
  ["ISON", { handler: ison, minParams: 1, keepsIdle: true, whileMuted: "all" }],
  ["JOIN", { handler: join, minParams: 1, whileMuted: existingChannels }],
  ["KICK", { handler: kick, minParams: 2 }],
  ["KILL", { handler: kill, minParams: 1, operatorOnly: true }],
  ["KLINE", { handler: kline, minParams: 1, operatorOnly: true }],
  ["LINKS", { handler: links, whileMuted: "all" }],
  ["LIST", { handler: list, whileMuted: "all" }],
  ["LUSERS", { handler: lusers, whileMuted: "all" }],
  ["MARKREAD", {
    handler: markread,
    keepsIdle: true,
    capability: Cap.READ_MARKER,
    whileMuted: "all",
  }],
  ["METADATA", {
    handler: metadata,
    minParams: 2,
    beforeRegistration: true,
    whileMuted: readingMetadata,
  }],
  ["MODE", { handler: mode, minParams: 1, whileMuted: readingModes }],
  ["MONITOR", { handler: monitor, minParams: 1, keepsIdle: true, whileMuted: "all" }],
  ["MOTD", { handler: motd, whileMuted: "all" }],
  ["NAMES", { handler: names, whileMuted: "all" }],
  ["NICK", { handler: nick, beforeRegistration: true, whileMuted: ownNick }],
  ["NICKSERV", { handler: serviceCommand("NickServ"), minParams: 1 }],
  ["NOTICE", { handler: notice, whileMuted: "all" }],
  ["NS", { handler: serviceCommand("NickServ"), minParams: 1 }],
  ["OPER", { handler: oper, minParams: 2 }],
  ["PART", { handler: part, minParams: 1, whileMuted: firstParameters(1) }],
  ["PASS", { handler: pass, minParams: 1, beforeRegistration: true, whileMuted: "all" }],
  ["PING", {
    handler: ping,
    minParams: 1,
    beforeRegistration: true,
    keepsIdle: true,
    whileMuted: "all",
  }],
  ["PONG", {
    handler: pong,
    beforeRegistration: true,
    keepsIdle: true,
    isAutomatic: always,
    whileMuted: "all",
  }],
  ["PRIVMSG", { handler: privmsg, whileMuted: "all" }],
  ["QUIT", { handler: quit, beforeRegistration: true, whileMuted: firstParameters(0) }],
  ["REDACT", { handler: redact, minParams: 2, capability: Cap.MESSAGE_REDACTION }],
  ["REGISTER", { handler: register, minParams: 3, beforeRegistration: true }],
  ["RELAYMSG", { handler: relaymsg, minParams: 3 }],
  ["RENAME", { handler: rename, minParams: 2 }],
  ["SETNAME", { handler: setname, minParams: 1 }],
  ["STATS", { handler: stats, whileMuted: "all" }],
  ["TAGMSG", { handler: tagmsg, minParams: 1, whileMuted: "all" }],
  ["TIME", { handler: time, whileMuted: "all" }],
  ["TOPIC", { handler: topic, minParams: 1, whileMuted: fewerParameters(2) }],
  ["UNKLINE", { handler: unkline, minParams: 1, operatorOnly: true }],
  ["USER", { handler: user, minParams: 4, beforeRegistration: true, whileMuted: "all" }],
  ["USERHOST", { handler: userhost, minParams: 1, keepsIdle: true, whileMuted: "all" }],
  ["VERIFY", { handler: verify, minParams: 2, beforeRegistration: true }],
  ["VERSION", { handler: version, whileMuted: "all" }],
  ["WALLOPS", { handler: wallops, minParams: 1, operatorOnly: true }],
  ["WHO", { handler: who, keepsIdle: true, isAutomatic: isWhoOfOne, whileMuted: "all" }],
  ["WHOIS", { handler: whois, whileMuted: "all" }],
  ["WHOWAS", { handler: whowas, whileMuted: "all" }],
]);

function always(): boolean {
  return true;
}
