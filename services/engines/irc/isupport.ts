import { ACCOUNT_MASK, EXTENDED_MASKS } from "./channels/mask.ts";
import { channelModeLetters, MODES_PER_COMMAND, STATUSES } from "./channels/modes.ts";
import { MONITORED_NICKS } from "./users/nicks.ts";
import { CHANNEL_LENGTH, NICK_LENGTH, REALNAME_LENGTH, USER_LENGTH } from "./protocol/names.ts";
import type { ServerState } from "./state.ts";

/** Targets that one PRIVMSG, NOTICE or TAGMSG may name. */
export const MESSAGE_TARGETS = 4;

/** Names that one LIST, NAMES or KICK may have. */
export const LISTED_TARGETS = 20;

/** Messages that one CHATHISTORY may ask for. */
export const HISTORY_MESSAGES = 1000;

/** The tokens of 005, each `NAME=value`, sorted by name. */
export function isupportTokens({ limits, options }: ServerState): string[] {
  const letters = STATUSES.map(({ letter }) => letter).join("");
  const prefixes = STATUSES.map(({ prefix }) => prefix).join("");
  const chanmodes = [
    channelModeLetters("list"),
    channelModeLetters("key"),
    channelModeLetters("setting"),
    channelModeLetters("flag"),
  ].join(",");
  const targets = [
    "JOIN:",
    `KICK:${LISTED_TARGETS}`,
    `LIST:${LISTED_TARGETS}`,
    `NAMES:${LISTED_TARGETS}`,
    `NOTICE:${MESSAGE_TARGETS}`,
    "PART:",
    `PRIVMSG:${MESSAGE_TARGETS}`,
    `TAGMSG:${MESSAGE_TARGETS}`,
    "WHOIS:1",
  ].join(",");
  const tokens = [
    `ACCOUNTEXTBAN=${ACCOUNT_MASK}`,
    `AWAYLEN=${limits.awayBytes}`,
    "BOT=B",
    "CASEMAPPING=ascii",
    `CHANLIMIT=#:${limits.channelsPerClient ?? ""}`,
    `CHANMODES=${chanmodes}`,
    `CHANNELLEN=${CHANNEL_LENGTH}`,
    "CHANTYPES=#",
    `CHATHISTORY=${HISTORY_MESSAGES}`,
    ...(options.reservedTags?.length ? [`CLIENTTAGDENY=${options.reservedTags.join(",")}`] : []),
    "ELIST=CMNTU",
    "EXCEPTS=e",
    `EXTBAN=,${EXTENDED_MASKS}`,
    "INVEX=I",
    `KICKLEN=${limits.reasonBytes}`,
    `LINELEN=${limits.lineBytes}`,
    `MAXLIST=${channelModeLetters("list")}:${limits.listEntries}`,
    `MODES=${MODES_PER_COMMAND}`,
    `MONITOR=${MONITORED_NICKS}`,
    "MSGREFTYPES=msgid,timestamp",
    `NAMELEN=${REALNAME_LENGTH}`,
    `NETWORK=${options.networkName}`,
    `NICKLEN=${NICK_LENGTH}`,
    `PREFIX=(${letters})${prefixes}`,
    "SAFELIST",
    `STATUSMSG=${prefixes}`,
    `TARGMAX=${targets}`,
    `TOPICLEN=${limits.topicBytes}`,
    `USERLEN=${USER_LENGTH}`,
    "UTF8ONLY",
    "WHOX",
  ];
  if (options.requireAccount === true) tokens.push("draft/ACCOUNTREQUIRED");
  return tokens;
}
