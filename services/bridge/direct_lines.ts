import { type Outbound, timeOf } from "../irc/mod.ts";
import type { LinkMessage, LinkSpeaker } from "./link_events.ts";
import {
  ACTION,
  BOT,
  CTCP,
  isReplyTag,
  NOTICE,
  replyField,
  SPEAKER_ACCOUNT_TAG,
  SPEAKER_TAG,
} from "./protocol.ts";

/** The prefixes of members with a status, and of STATUSMSG targets. */
export const STATUS_PREFIX = /^[@+]/;

/**
 * The lines of a message of the server in this process, as the bridge hears them. Only the first one
 * has an id and the label.
 *
 * @param isOurs whether the bridge said it
 */
export function linesIn(message: Outbound, isOurs: boolean, label: string | null): LinkMessage[] {
  const { text = "", tags: { msgid = null } } = message;
  if (STATUS_PREFIX.test(message.params[0] ?? "")) return [];
  if (typeof text === "string") {
    const only = lineIn(message, text, { isOurs, id: msgid, label });
    return only === null ? [] : [only];
  }
  const lines: LinkMessage[] = [];
  let isFirst = true;
  for (const line of text) {
    if (line.text === "") continue;
    const marks = { isOurs, id: isFirst ? msgid : null, label: isFirst ? label : null };
    const heard = lineIn(message, line.text, marks);
    if (heard !== null) lines.push(heard);
    isFirst = false;
  }
  return lines;
}

function lineIn(
  message: Outbound,
  text: string,
  { isOurs, id, label }: {
    readonly isOurs: boolean;
    readonly id: string | null;
    readonly label: string | null;
  },
): LinkMessage | null {
  const { source, command, params: [channel = ""], tags } = message;
  const nick = nickOf(source);
  const shown = text.startsWith(CTCP) ? actionIn(text, command, nick) : text;
  if (shown === null) return null;
  return {
    kind: "message",
    channel,
    nick,
    account: accountOf(message),
    speaker: isOurs ? spokenFor(tags.client) : null,
    text: shown,
    id,
    time: timeOf(tags),
    label,
    ...(tags.client === undefined ? NO_REPLY : replyIn(tags.client)),
    ...(command === "NOTICE" ? NOTICE : NO_MARK),
    ...(tags.bot === true ? BOT : NO_MARK),
  };
}

/** The account that said it; null if there is none, or it was relayed. */
export function accountOf({ tags: { relayer, account } }: Outbound): string | null {
  return relayer === undefined ? account ?? null : null;
}

/** The shown form of an ACTION, even without its end; null for any other CTCP. */
function actionIn(text: string, command: string, nick: string): string | null {
  if (command === "NOTICE") return null;
  if (!text.endsWith(CTCP)) {
    return text.startsWith(ACTION) ? `* ${nick} ${text.slice(ACTION.length)}` : null;
  }
  const [kind = "", ...words] = text.slice(1, -1).split(" ");
  return kind.toUpperCase() === "ACTION" ? `* ${nick} ${words.join(" ")}` : null;
}

const NO_REPLY = Object.freeze({});
const NO_MARK = Object.freeze({});

function replyIn(tags: NonNullable<Outbound["tags"]["client"]>): { readonly reply?: string } {
  return replyField(tags.find(([key]) => isReplyTag(key))?.[1]);
}

/** For whom the bridge speaks, according to the tags that it set. */
function spokenFor(tags: Outbound["tags"]["client"]): LinkSpeaker | null {
  let nick: string | null = null;
  let account: string | null = null;
  for (const [key, value] of tags ?? []) {
    if (key === SPEAKER_TAG) nick = value;
    else if (key === SPEAKER_ACCOUNT_TAG) account = value;
  }
  return nick === null ? null : { nick, account };
}

/** The nick in `nick!user@host`, or the name of a server. */
export function nickOf(source: string | null): string {
  if (source === null) return "";
  const end = source.indexOf("!");
  return end === -1 ? source : source.slice(0, end);
}
