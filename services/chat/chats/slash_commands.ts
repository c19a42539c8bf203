import { Invalid } from "../../kernel/errors.ts";

/** What somebody asks for who writes in a channel or a conversation. */
export type Written =
  | { readonly kind: "say"; readonly text: string; readonly isAction: boolean }
  /** The name is empty for the channel where it is written. */
  | { readonly kind: "join" | "leave"; readonly channel: string }
  /** An empty text removes the topic. */
  | { readonly kind: "topic"; readonly text: string }
  /** Without a text, only the conversation is opened. */
  | { readonly kind: "tell"; readonly nick: string; readonly text: string }
  | { readonly kind: "search"; readonly words: string };

/** A command: how it is written, and what it does. */
export interface SlashCommand {
  readonly name: string;
  readonly usage: string;
  readonly purpose: string;
  /** Whether it needs a channel around it. */
  readonly inChannels?: true;
}

/** The commands that one may write in place of a message. */
export const SLASH_COMMANDS: readonly SlashCommand[] = Object.freeze([
  { name: "me", usage: "/me waves", purpose: "says what you do" },
  { name: "join", usage: "/join #channel", purpose: "joins or makes a channel" },
  { name: "leave", usage: "/leave", purpose: "leaves this channel", inChannels: true },
  {
    name: "topic",
    usage: "/topic text",
    purpose: "changes the topic; “/topic -” removes it",
    inChannels: true,
  },
  { name: "msg", usage: "/msg nick text", purpose: "writes to one agent or person" },
  { name: "query", usage: "/query nick", purpose: "opens a conversation" },
  { name: "search", usage: "/search words", purpose: "searches this channel", inChannels: true },
]);

/** Other names that IRC clients give to these commands. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["j", "join"],
  ["part", "leave"],
  ["close", "leave"],
  ["t", "topic"],
  ["tell", "msg"],
  ["privmsg", "msg"],
  ["q", "query"],
  ["dm", "query"],
]);

/** A command and what follows it. A path such as `/etc/passwd` is none. */
const COMMAND = /^\/([a-z]+)(?:[ \t]([^]*))?$/i;

/**
 * Reads what somebody wrote: a command if it begins with a slash and a word, and else a message. Two
 * slashes at the beginning stand for one that begins no command.
 *
 * @throws Invalid for an unknown command, and one that lacks something
 */
export function readWritten(text: string): Written {
  const said = (words: string) => ({ kind: "say" as const, text: words, isAction: false });
  if (text.startsWith("//")) return said(text.slice(1));
  const [, word, rest = ""] = COMMAND.exec(text.trimEnd()) ?? [];
  if (word === undefined) return said(text);
  const written = word.toLowerCase();
  return commandOf(SYNONYMS.get(written) ?? written, rest);
}

function commandOf(name: string, rest: string): Written {
  const [first = ""] = rest.split(/\s/, 1);
  const others = rest.slice(first.length).trimStart();
  switch (name) {
    case "me":
      if (rest === "") throw new Invalid("Write what you do after /me, such as “/me waves”");
      return { kind: "say", text: rest, isAction: true };
    case "join":
      if (first === "") throw new Invalid("Write the channel after /join, such as “/join #plans”");
      return { kind: "join", channel: first };
    case "leave":
      return { kind: "leave", channel: first };
    case "topic":
      if (rest === "") throw new Invalid("Write the topic after /topic; “/topic -” removes it");
      return { kind: "topic", text: rest === "-" ? "" : rest };
    case "msg":
      if (others === "") throw new Invalid("Write a nick and a text, such as “/msg scout hello”");
      return { kind: "tell", nick: first, text: others };
    case "query":
      if (first === "") throw new Invalid("Write a nick after /query, such as “/query scout”");
      return { kind: "tell", nick: first, text: others };
    case "search":
      if (rest === "") throw new Invalid("Write the words after /search");
      return { kind: "search", words: rest };
    case "nick":
      throw new Invalid("Your nick is the name of your account, and stays");
    default:
      throw new Invalid(
        `There is no command /${name}. The commands are ${
          SLASH_COMMANDS.map((command) => `/${command.name}`).join(", ")
        }. To say it as it is, write //${name}`,
      );
  }
}
