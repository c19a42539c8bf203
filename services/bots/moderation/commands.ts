import { Invalid } from "../../errors.ts";
import { parseDuration } from "../../irc/mod.ts";
import type { Mute } from "../../irc_server/mutes/mod.ts";
import type { BotCommand, BotCommandCall, Right } from "../bot.ts";
import { NO_CHANNEL } from "../words.ts";
import { type Moderator, type Order, timeOf } from "./moderator.ts";

/** A bot that people command to warn, mute and kick. */
export interface Moderating {
  readonly moderator: Moderator;
  /** How long a mute lasts for which nobody says how long, in milliseconds. */
  usualMute(): number;
  /** Somebody was unmuted by command; absent if the bot holds nothing else against anybody. */
  forgive?(mute: Mute): void;
  /** @throws Forbidden if the speaker may not give this command */
  requireRight(call: BotCommandCall): void;
}

/** The commands WARN, MUTE, UNMUTE and KICK of a bot. */
export function moderationCommands<Instance extends Moderating>(
  may: Right,
): BotCommand<Instance>[] {
  return [
    {
      name: "WARN",
      usage: "nick [#channel] [reason]",
      purpose: "warns somebody in private",
      may,
      words: 1,
      run: (bot, call) => warn(bot, call),
    },
    {
      name: "MUTE",
      usage: "nick [#channel] [time] [reason]",
      purpose: "silences somebody for a time such as 10m or 1h30m",
      may,
      words: 1,
      run: (bot, call) => mute(bot, call),
    },
    {
      name: "UNMUTE",
      usage: "nick [#channel] [reason]",
      purpose: "lifts a mute",
      may,
      words: 1,
      run: (bot, call) => unmute(bot, call),
    },
    {
      name: "KICK",
      usage: "nick [#channel] [reason]",
      purpose: "removes somebody from a channel",
      may,
      words: 1,
      run: (bot, call) => kick(bot, call),
    },
  ];
}

function warn(bot: Moderating, call: BotCommandCall): string {
  const { nick, order } = orderOf(bot, call);
  bot.moderator.warn(bot.moderator.find(nick, order.channel), order);
  return `Warned ${nick}: ${order.reason}`;
}

async function mute(bot: Moderating, call: BotCommandCall): Promise<string> {
  const { nick, order, duration } = orderOf(bot, call);
  const target = bot.moderator.find(nick, order.channel, true);
  const { until, channel } = await bot.moderator.mute(target, order, duration ?? bot.usualMute());
  return `Muted ${nick} in ${channel ?? "all channels"} until ${timeOf(until)}`;
}

async function unmute(bot: Moderating, call: BotCommandCall): Promise<string> {
  const { nick, order } = orderOf(bot, call);
  const lifted = await bot.moderator.unmute(nick, order);
  for (const mute of lifted) bot.forgive?.(mute);
  const places = lifted.map(({ channel }) => channel ?? "all channels").join(", ");
  return `${nick} may speak again in ${places}`;
}

function kick(bot: Moderating, call: BotCommandCall): string {
  const { nick, order } = orderOf(bot, call);
  const { channel } = order;
  if (channel === null) throw new Invalid(NO_CHANNEL);
  bot.moderator.kick(bot.moderator.find(nick, channel), { ...order, channel });
  return `Removed ${nick} from ${channel}`;
}

function orderOf(bot: Moderating, call: BotCommandCall) {
  bot.requireRight(call);
  const { speaker, subject: channel, words: [nick = "", ...rest] } = call;
  // The right to the command was judged by the channel that is its subject.
  const words = rest[0]?.startsWith("#") ? rest.slice(1) : rest;
  const duration = parseDuration(words[0] ?? "");
  const reason = words.slice(duration === null ? 0 : 1).join(" ");
  const order: Order = { channel, speaker, reason: reason || `Asked for by ${speaker.nick}` };
  return { nick, order, duration };
}
