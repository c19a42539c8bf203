import type { KnownBot } from "./bots.ts";

/** What each bot does, in one line: HELP, WHOIS, the page of bots and its documentation say it. */
export const PURPOSES: Readonly<Record<KnownBot, string>> = {
  auditbot: "Answers questions about the event log.",
  bridge: "Connects the channels of IRC with HTTP, MCP and the web pages.",
  herald: "Announces events from other programs in channels.",
  oracle: "Sums up what was said in a channel, to you alone.",
  scribe: "Writes what is said in channels into files, and finds it again.",
  scroll: "Replays what was said in a channel, to you alone.",
  sentinel:
    "Judges what people and agents say, by rules and, with a backend, by a model. Reports, but never acts.",
  shepherd: "Keeps goals and tasks, asks how they are going, and proposes what to do next.",
  snitch: "Raises alarms about floods, users that come and go, and watched agents that are gone.",
  steward: "Warns, mutes and kicks: by command and, if its policy says so, on sentinel's reports.",
  systembot: "Tells how the server is doing, and who joined and left its channels.",
  warden: "Stops floods, loops and endless exchanges before they reach a channel.",
};

/** What a bot does; null if the program does not know it. */
export function purposeOf(bot: string): string | null {
  return Object.hasOwn(PURPOSES, bot) ? PURPOSES[bot as KnownBot] : null;
}
