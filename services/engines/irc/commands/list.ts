import type { CommandCall } from "../command.ts";
import { LISTED_TARGETS } from "../isupport.ts";
import { compileMask, distinctNames } from "../protocol/names.ts";
import { ERR_TOOMANYTARGETS, RPL_LIST, RPL_LISTEND, RPL_LISTSTART } from "../protocol/numerics.ts";
import type { Channel } from "../members.ts";

const MINUTE_MILLISECONDS = 60_000;

type Condition = (channel: Channel, now: number) => boolean;

/**
 * LIST [condition{,condition}]: channels that fulfil every condition of ISUPPORT `ELIST` and match
 * one of the names or masks, if there are any.
 */
export async function list({ state, client, params, reply }: CommandCall): Promise<void> {
  const words = distinctNames(params[0] ?? "");
  const tooMany = words[LISTED_TARGETS];
  if (tooMany !== undefined) return reply.numeric(ERR_TOOMANYTARGETS, tooMany);
  const now = state.now();
  const conditions: Condition[] = [];
  const names: Condition[] = [];
  for (const word of words) {
    const condition = parseCondition(word);
    if (condition) conditions.push(condition);
    else names.push(matchesName(word));
  }
  reply.numeric(RPL_LISTSTART, "Channel");
  for (const channel of state.channels.values()) {
    const pause = reply.pause();
    if (pause) await pause;
    if (client.quitReason !== null) return;
    if (!channel.isVisibleTo(client)) continue;
    if (names.length > 0 && !names.some((matches) => matches(channel, now))) continue;
    if (!conditions.every((holds) => holds(channel, now))) continue;
    const topic = channel.topic?.text ?? "";
    reply.numericText(RPL_LIST, [channel.name, String(channel.members.size)], topic);
  }
  reply.numeric(RPL_LISTEND);
}

function matchesName(mask: string): Condition {
  const matches = compileMask(mask);
  return (channel) => matches(channel.name);
}

/** `>n`, `<n` users; `C>n`, `C<n`, `T>n`, `T<n` minutes since creation or topic; `!mask`. */
function parseCondition(word: string): Condition | null {
  if (word.startsWith("!")) {
    const matches = compileMask(word.slice(1));
    return (channel) => !matches(channel.name);
  }
  const [, subject, sign, digits] = /^([CT]?)([<>])([0-9]{1,9})$/i.exec(word) ?? [];
  if (digits === undefined) return null;
  const limit = Number(digits);
  const measure = MEASURES[(subject ?? "").toUpperCase()] as Measure;
  return (channel, now) => {
    const value = measure(channel, now);
    return value !== null && (sign === "<" ? value < limit : value > limit);
  };
}

type Measure = (channel: Channel, now: number) => number | null;

const MEASURES: Readonly<Record<string, Measure>> = {
  "": (channel) => channel.members.size,
  "C": (channel, now) => (now - channel.createdAt) / MINUTE_MILLISECONDS,
  "T": ({ topic }, now) => topic && (now - topic.setAt) / MINUTE_MILLISECONDS,
};
