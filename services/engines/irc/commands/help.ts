import type { CommandCall } from "../command.ts";
import {
  ERR_HELPNOTFOUND,
  RPL_ENDOFHELP,
  RPL_HELPSTART,
  RPL_HELPTXT,
} from "../protocol/numerics.ts";

/** Characters of names in one line of the index. */
const INDEX_LENGTH = 72;

/** The usage of each command, and a sentence on it. */
const TEXTS: ReadonlyMap<string, readonly [usage: string, purpose: string]> = new Map([
  ["ADMIN", ["ADMIN", "Shows the contact for this server."]],
  ["AUTHENTICATE", ["AUTHENTICATE mechanism", "Logs in to an account (SASL)."]],
  ["AWAY", ["AWAY [reason]", "Marks you as away, or as back."]],
  ["BATCH", ["BATCH +reference|-reference [type target]", "Begins or ends a message of lines."]],
  ["CAP", ["CAP LS|LIST|REQ|END", "Agrees on extensions of the protocol."]],
  ["CHANSERV", ["CHANSERV command ...", "Registers channels; CHANSERV HELP tells more."]],
  ["CHATHISTORY", ["CHATHISTORY subcommand target ...", "Reads earlier messages."]],
  ["CHGHOST", ["CHGHOST nick host|*", "Gives a user another host; for IRC operators."]],
  ["CS", ["CS command ...", "The same as CHANSERV."]],
  ["HELP", ["HELP [command]", "Lists the commands, or explains one."]],
  ["HELPOP", ["HELPOP [command]", "The same as HELP."]],
  ["INFO", ["INFO", "Tells about this server."]],
  ["INVITE", ["INVITE [nick channel]", "Invites a user, or lists your invitations."]],
  ["ISON", ["ISON nick{ nick}", "Tells which of these users are here."]],
  ["JOIN", ["JOIN channel{,channel} [key{,key}]", "Enters channels; JOIN 0 leaves them all."]],
  ["KICK", ["KICK channel nick{,nick} [reason]", "Removes users from a channel."]],
  ["KILL", ["KILL nick [reason]", "Ends a user's connection; for IRC operators."]],
  ["KLINE", ["KLINE [time] mask [:reason]", "Bans from this server; for IRC operators."]],
  ["LINKS", ["LINKS", "Lists the servers of this network."]],
  ["LIST", ["LIST [condition{,condition}]", "Lists channels."]],
  ["LUSERS", ["LUSERS", "Counts users and channels."]],
  ["MARKREAD", ["MARKREAD target [timestamp=time]", "Tells how far you have read, or marks it."]],
  ["METADATA", ["METADATA target subcommand [key ...]", "Notes about users and channels."]],
  ["MODE", ["MODE target [changes [parameters]]", "Shows or changes modes."]],
  ["MONITOR", ["MONITOR +|-|C|L|S [nick{,nick}]", "Watches nicks."]],
  ["MOTD", ["MOTD", "Shows the message of the day."]],
  ["NAMES", ["NAMES channel{,channel}", "Lists the members of channels."]],
  ["NICK", ["NICK nick", "Takes a nick."]],
  ["NICKSERV", ["NICKSERV command ...", "Accounts of people; NICKSERV HELP tells more."]],
  ["NOTICE", ["NOTICE target{,target} :text", "Sends a message that is never answered."]],
  ["NS", ["NS command ...", "The same as NICKSERV."]],
  ["OPER", ["OPER name password", "Makes you an IRC operator."]],
  ["PART", ["PART channel{,channel} [reason]", "Leaves channels."]],
  ["PASS", [
    "PASS password",
    "Gives the password of this server, before NICK and USER; account:password logs in.",
  ]],
  ["PING", ["PING token", "Asks for a PONG with the same token."]],
  ["PONG", ["PONG token", "Answers a PING."]],
  ["PRIVMSG", ["PRIVMSG target{,target} :text", "Sends a message to users and channels."]],
  ["QUIT", ["QUIT [reason]", "Ends your connection."]],
  ["REDACT", ["REDACT target msgid [:reason]", "Takes a message back, or another's away."]],
  ["REGISTER", ["REGISTER account|* * password", "Makes an account, where people may."]],
  ["RELAYMSG", ["RELAYMSG channel nick :text", "Sends what somebody elsewhere said."]],
  ["RENAME", ["RENAME channel name [:reason]", "Renames a channel."]],
  ["SETNAME", ["SETNAME :name", "Changes your real name."]],
  ["STATS", ["STATS k|u", "Lists bans (for IRC operators), or shows the uptime."]],
  ["TAGMSG", ["TAGMSG target{,target}", "Sends tags without a text."]],
  ["TIME", ["TIME", "Tells the time of this server."]],
  ["TOPIC", ["TOPIC channel [:text]", "Shows or changes the topic of a channel."]],
  ["UNKLINE", ["UNKLINE mask", "Ends a ban from this server; for IRC operators."]],
  ["USER", ["USER name 0 * :real name", "Tells who you are, when you connect."]],
  ["USERHOST", ["USERHOST nick{ nick}", "Tells the hosts of users."]],
  ["VERIFY", ["VERIFY account code", "Completes a REGISTER that waits for a code."]],
  ["VERSION", ["VERSION", "Tells the version of this server and what it supports."]],
  ["WALLOPS", ["WALLOPS :text", "Tells all users with mode w; for IRC operators."]],
  ["WHO", ["WHO mask [%fields[,token]]", "Lists users."]],
  ["WHOIS", ["WHOIS nick", "Tells about a user."]],
  ["WHOWAS", ["WHOWAS nick [count]", "Tells who had a nick."]],
]);

/** HELP [command]: the usage of a command, or the list of commands. */
export function help({ params, reply }: CommandCall): void {
  const subject = params[0] ?? "";
  const text = subject === "" ? index() : TEXTS.get(subject.toUpperCase());
  const about = subject || "*";
  if (!text) return reply.numeric(ERR_HELPNOTFOUND, about);
  const [title = "", ...lines] = text;
  reply.numericText(RPL_HELPSTART, [about], title);
  for (const line of lines) reply.numericText(RPL_HELPTXT, [about], line);
  reply.numeric(RPL_ENDOFHELP, about);
}

function index(): string[] {
  const lines = ["Commands; HELP and the name of one tells more"];
  let line = "";
  for (const name of TEXTS.keys()) {
    if (line !== "" && line.length + name.length >= INDEX_LENGTH) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? name : ` ${name}`;
  }
  return [...lines, line];
}
