/**
 * What the channels of an IRC server ought to do, said a second time and without a server: who is
 * in them, which modes they have, and what each client is told of a command.
 */
import {
  type AskedChange,
  changeKey,
  changeLimit,
  FLAGS,
  type ModelChannel,
  type ModelClient,
  modesOf,
  modeString,
} from "./channel_model_modes.ts";

export type { AskedChange, ModelClient };

/** What a client does. */
export type Action =
  | { readonly kind: "join"; readonly channel: string; readonly key: string }
  | { readonly kind: "leaveAll" }
  | { readonly kind: "part"; readonly channel: string }
  | { readonly kind: "kick"; readonly channel: string; readonly nick: string }
  | { readonly kind: "nick"; readonly nick: string }
  | { readonly kind: "quit" }
  | { readonly kind: "mode"; readonly channel: string; readonly changes: readonly AskedChange[] }
  | { readonly kind: "modes"; readonly channel: string }
  | { readonly kind: "invite"; readonly channel: string; readonly nick: string }
  | { readonly kind: "topic"; readonly channel: string; readonly text: string | null }
  | { readonly kind: "names"; readonly channel: string }
  | {
    readonly kind: "say";
    readonly command: "PRIVMSG" | "NOTICE" | "TAGMSG";
    readonly target: string;
  };

/** The text of every message; what differs is who gets it. */
export const TEXT = "said";

const LISTS: Readonly<Record<string, readonly [entry: string, end: string]>> = {
  b: ["367", "368"],
  e: ["348", "349"],
  I: ["346", "347"],
};

/** The channels and who is connected. */
export class ChannelModel {
  readonly #clients = new Set<ModelClient>();
  readonly #channels = new Map<string, ModelChannel>();
  /** The channels of each client, in the order of joining. */
  readonly #joined = new Map<ModelClient, Set<ModelChannel>>();
  readonly #host: string;

  /** @param host what every client's host is */
  constructor(host: string) {
    this.#host = host;
  }

  connect(client: ModelClient): void {
    this.#clients.add(client);
    this.#joined.set(client, new Set());
  }

  /** The names of the channels that exist, in lower case, sorted. */
  channels(): string[] {
    return [...this.#channels.keys()].sort();
  }

  /** The members with all of their prefixes, sorted; and the modes with the key, as 324 has them. */
  describe(channel: string): { members: string[]; modes: string; lists: string[] } {
    const found = this.#channels.get(fold(channel)) ?? missing();
    const members = [...found.members].map(([{ nick }, status]) => prefixes(status) + nick).sort();
    const lists = Object.entries(found.lists).flatMap(([letter, masks]) =>
      masks.map((mask) => `${letter} ${mask}`)
    );
    return { members, modes: modesOf(found, true), lists };
  }

  /** Has a client do something, and everybody told. */
  act(client: ModelClient, action: Action): void {
    switch (action.kind) {
      case "join":
        return this.#join(client, action.channel, action.key);
      case "leaveAll":
        for (const channel of this.#channelsOf(client)) {
          this.#leave(client, channel, `PART ${channel.name} Left all channels`);
        }
        return;
      case "part":
        return this.#part(client, action.channel);
      case "kick":
        return this.#kick(client, action.channel, action.nick);
      case "nick":
        return this.#nick(client, action.nick);
      case "quit":
        return this.#quit(client);
      case "mode":
        return this.#mode(client, action.channel, action.changes);
      case "modes":
        return this.#modes(client, action.channel);
      case "invite":
        return this.#invite(client, action.channel, action.nick);
      case "topic":
        return this.#topic(client, action.channel, action.text);
      case "names":
        return this.#names(client, action.channel, action.channel);
      case "say":
        return this.#say(client, action.command, action.target);
    }
  }

  #join(client: ModelClient, name: string, key: string): void {
    if (!/^#[^ ,]+$/.test(name)) return client.tell(`403 ${name}`);
    let channel = this.#channels.get(fold(name));
    if (channel?.members.has(client)) return;
    if (channel !== undefined) {
      const refusal = this.#refusal(client, channel, key);
      if (refusal !== null) return client.tell(`${refusal} ${channel.name}`);
    }
    const isNew = channel === undefined;
    channel ??= newChannel(name);
    this.#channels.set(fold(name), channel);
    const status = new Set<string>();
    if (client.account !== null) channel.founder ??= client.account;
    if (isNew || (client.account !== null && channel.founder === client.account)) status.add("o");
    channel.members.set(client, status);
    this.#joined.get(client)?.add(channel);
    channel.invited.delete(client);
    tellAll(channel, `${client.nick} JOIN ${channel.name}`);
    if (!isNew && status.has("o")) {
      tellAll(channel, `server MODE ${channel.name} +o ${client.nick}`);
    }
    if (channel.topic !== "") client.tell(`332 ${channel.name} ${channel.topic}`);
    this.#names(client, channel.name, channel.name);
  }

  #refusal(client: ModelClient, channel: ModelChannel, key: string): string | null {
    if (channel.key !== null && channel.key !== key) return "475";
    if (channel.invited.has(client)) return null;
    if (channel.limit !== null && channel.members.size >= channel.limit) return "471";
    if (channel.flags.has("i") && !this.#listed(channel, "I", client)) return "473";
    return this.#isBanned(channel, client) ? "474" : null;
  }

  #part(client: ModelClient, name: string): void {
    const channel = this.#channels.get(fold(name));
    if (channel === undefined) return client.tell(`403 ${name}`);
    if (!channel.members.has(client)) return client.tell(`442 ${channel.name}`);
    this.#leave(client, channel, `PART ${channel.name}`);
  }

  #leave(client: ModelClient, channel: ModelChannel, said: string): void {
    tellAll(channel, `${client.nick} ${said}`);
    this.#remove(client, channel);
  }

  #remove(client: ModelClient, channel: ModelChannel): void {
    channel.members.delete(client);
    this.#joined.get(client)?.delete(channel);
    if (channel.members.size === 0) this.#channels.delete(fold(channel.name));
  }

  #kick(client: ModelClient, name: string, nick: string): void {
    const channel = this.#visible(client, name);
    if (channel === null) return client.tell(`403 ${name}`);
    const own = channel.members.get(client);
    if (own === undefined) return client.tell(`442 ${channel.name}`);
    if (!own.has("o")) return client.tell(`482 ${channel.name}`);
    const target = this.#find(nick);
    if (target === null || !channel.members.has(target)) {
      return client.tell(`441 ${nick} ${channel.name}`);
    }
    tellAll(channel, `${client.nick} KICK ${channel.name} ${target.nick} ${client.nick}`);
    this.#remove(target, channel);
  }

  #nick(client: ModelClient, nick: string): void {
    if (nick === client.nick) return;
    const holder = this.#find(nick);
    if (holder !== null && holder !== client) return client.tell(`433 ${nick}`);
    const said = `${client.nick} NICK ${nick}`;
    for (const one of this.#neighbours(client)) one.tell(said);
    client.tell(said);
    client.nick = nick;
  }

  #quit(client: ModelClient): void {
    for (const one of this.#neighbours(client)) one.tell(`${client.nick} QUIT`);
    for (const channel of this.#channelsOf(client)) this.#remove(client, channel);
    for (const channel of this.#channels.values()) channel.invited.delete(client);
    this.#clients.delete(client);
    this.#joined.delete(client);
  }

  #mode(client: ModelClient, name: string, changes: readonly AskedChange[]): void {
    const channel = this.#visible(client, name);
    if (channel === null) return client.tell(`403 ${name}`);
    const may = channel.members.get(client)?.has("o") ?? false;
    const asked = new Set<string>();
    const made: AskedChange[] = [];
    let isRefused = false;
    for (const change of changes) {
      const { letter, param } = change;
      if (!(FLAGS + "bekIlov").includes(letter)) client.tell(`472 ${letter}`);
      else if (letter in LISTS && param === undefined) asked.add(letter);
      else if (!may) isRefused = true;
      else {
        const applied = this.#change(client, channel, change);
        if (applied !== null) made.push(applied);
      }
    }
    for (const letter of asked) this.#tellList(client, channel, letter);
    if (isRefused) client.tell(`482 ${channel.name}`);
    if (made.length === 0) return;
    tellAll(channel, `${client.nick} MODE ${channel.name} ${modeString(made)}`);
  }

  #tellList(client: ModelClient, channel: ModelChannel, letter: string): void {
    const [entry, end] = LISTS[letter] ?? missing();
    for (const mask of channel.lists[letter as "b"]) {
      client.tell(`${entry} ${channel.name} ${mask}`);
    }
    client.tell(`${end} ${channel.name}`);
  }

  /** Makes a change. Returns the lines that others see, or null if nothing changed. */
  #change(client: ModelClient, channel: ModelChannel, change: AskedChange): AskedChange | null {
    const { add, letter, param } = change;
    if (FLAGS.includes(letter)) return toggle(channel.flags, letter, add) ? { add, letter } : null;
    if (letter === "k") return changeKey(client, channel, change);
    if (letter === "l") return changeLimit(client, channel, change);
    if (letter in LISTS) {
      const masks = channel.lists[letter as "b"];
      const mask = canonical(param ?? "");
      if (letter === "I" && mask.startsWith("m:")) {
        client.tell(`696 ${channel.name} I ${mask}`);
        return null;
      }
      const at = masks.findIndex((one) => fold(one) === fold(mask));
      if (add === (at !== -1)) return null;
      if (add) masks.push(mask);
      return { add, letter, param: add ? mask : masks.splice(at, 1)[0] ?? missing() };
    }
    if (param === undefined) {
      client.tell("461 MODE");
      return null;
    }
    const target = this.#find(param);
    if (target === null) {
      client.tell(`401 ${param}`);
      return null;
    }
    const status = channel.members.get(target);
    if (status === undefined) {
      client.tell(`441 ${target.nick} ${channel.name}`);
      return null;
    }
    return toggle(status, letter, add) ? { add, letter, param: target.nick } : null;
  }

  #modes(client: ModelClient, name: string): void {
    const channel = this.#visible(client, name);
    if (channel === null) return client.tell(`403 ${name}`);
    client.tell(`324 ${channel.name} ${modesOf(channel, channel.members.has(client))}`);
  }

  #invite(client: ModelClient, name: string, nick: string): void {
    const target = this.#find(nick);
    if (target === null) return client.tell(`401 ${nick}`);
    const channel = this.#channels.get(fold(name));
    if (channel === undefined) return client.tell(`403 ${name}`);
    const own = channel.members.get(client);
    if (own === undefined) return client.tell(`442 ${channel.name}`);
    if (channel.flags.has("i") && !own.has("o")) return client.tell(`482 ${channel.name}`);
    if (channel.members.has(target)) return client.tell(`443 ${target.nick} ${channel.name}`);
    channel.invited.add(target);
    target.tell(`${client.nick} INVITE ${target.nick} ${channel.name}`);
    client.tell(`341 ${target.nick} ${channel.name}`);
  }

  #topic(client: ModelClient, name: string, text: string | null): void {
    const channel = this.#visible(client, name);
    if (channel === null) return client.tell(`403 ${name}`);
    if (text === null) {
      const { topic } = channel;
      return client.tell(
        topic === "" ? `331 ${channel.name}` : `332 ${channel.name} ${topic}`,
      );
    }
    const own = channel.members.get(client);
    if (own === undefined) return client.tell(`442 ${channel.name}`);
    const isSilenced = own.size === 0 && this.#isSilenced(channel, client);
    if (isSilenced || (channel.flags.has("t") && !own.has("o"))) {
      return client.tell(`482 ${channel.name}`);
    }
    channel.topic = text;
    tellAll(channel, `${client.nick} TOPIC ${channel.name} ${text}`.trimEnd());
  }

  #names(client: ModelClient, name: string, asked: string): void {
    const channel = this.#visible(client, name);
    if (channel !== null) {
      const names = [...channel.members].map(([{ nick }, status]) => {
        return (prefixes(status)[0] ?? "") + nick;
      });
      client.tell(`353 ${channel.name} ${names.sort().join(" ")}`);
    }
    client.tell(`366 ${asked}`);
  }

  #say(client: ModelClient, command: string, target: string): void {
    const refuse = (line: string) => {
      if (command !== "NOTICE") client.tell(line);
    };
    const [, prefix = "", name = ""] = /^([@+]?)(.*)$/.exec(target) ?? [];
    if (!name.startsWith("#")) {
      const receiver = this.#find(target);
      if (receiver === null) return refuse(`401 ${target}`);
      return receiver.tell(`${client.nick} ${spoken(command, receiver.nick)}`);
    }
    const channel = this.#channels.get(fold(name));
    if (channel === undefined) return refuse(`403 ${name}`);
    if (!this.#maySpeak(client, channel)) return refuse(`404 ${channel.name}`);
    for (const [member, status] of channel.members) {
      const isMeant = prefix === "" || status.has("o") || (prefix === "+" && status.has("v"));
      if (member === client || !isMeant) continue;
      member.tell(`${client.nick} ${spoken(command, prefix + channel.name)}`);
    }
  }

  #maySpeak(client: ModelClient, channel: ModelChannel): boolean {
    const status = channel.members.get(client);
    if (status !== undefined && status.size > 0) return true;
    if (channel.flags.has("m")) return false;
    if (channel.flags.has("n") && status === undefined) return false;
    return !this.#isSilenced(channel, client);
  }

  #isBanned(channel: ModelChannel, client: ModelClient): boolean {
    return this.#listed(channel, "b", client) && !this.#listed(channel, "e", client);
  }

  #isSilenced(channel: ModelChannel, client: ModelClient): boolean {
    if (this.#isBanned(channel, client)) return true;
    return this.#listed(channel, "b", client, "m:") && !this.#listed(channel, "e", client, "m:") &&
      !this.#listed(channel, "e", client);
  }

  /** Whether a list has a mask with this beginning whose rest matches the client. */
  #listed(channel: ModelChannel, letter: "b" | "e" | "I", client: ModelClient, type = ""): boolean {
    return channel.lists[letter].some((mask) => {
      if (mask.startsWith("m:") !== (type === "m:")) return false;
      const rest = mask.slice(type.length);
      if (!rest.startsWith("a:")) {
        return matches(rest, `${client.nick}!${client.user}@${this.#host}`);
      }
      return client.account !== null && matches(rest.slice(2), client.account);
    });
  }

  #visible(client: ModelClient, name: string): ModelChannel | null {
    const channel = this.#channels.get(fold(name));
    if (channel === undefined) return null;
    return channel.flags.has("s") && !channel.members.has(client) ? null : channel;
  }

  #find(nick: string): ModelClient | null {
    for (const client of this.#clients) if (fold(client.nick) === fold(nick)) return client;
    return null;
  }

  #channelsOf(client: ModelClient): ModelChannel[] {
    return [...this.#joined.get(client) ?? []];
  }

  #neighbours(client: ModelClient): Set<ModelClient> {
    const neighbours = new Set(
      this.#channelsOf(client).flatMap(({ members }) => [...members.keys()]),
    );
    neighbours.delete(client);
    return neighbours;
  }
}

function newChannel(name: string): ModelChannel {
  return {
    name,
    members: new Map(),
    flags: new Set("nt"),
    lists: { b: [], e: [], I: [] },
    invited: new Set(),
    founder: null,
    key: null,
    limit: null,
    topic: "",
  };
}

/** Adds to a set or takes from it. Whether that changed it. */
function toggle(set: Set<string>, letter: string, add: boolean): boolean {
  if (set.has(letter) === add) return false;
  if (add) set.add(letter);
  else set.delete(letter);
  return true;
}

function tellAll({ members }: ModelChannel, line: string): void {
  for (const member of members.keys()) member.tell(line);
}

function spoken(command: string, target: string): string {
  return command === "TAGMSG" ? `TAGMSG ${target}` : `${command} ${target} ${TEXT}`;
}

function prefixes(status: ReadonlySet<string>): string {
  return (status.has("o") ? "@" : "") + (status.has("v") ? "+" : "");
}

function canonical(mask: string): string {
  return mask.includes("!") || mask.includes(":") ? mask : `${mask}!*@*`;
}

function matches(mask: string, text: string): boolean {
  const pattern = mask.replaceAll(/[\\^$+.()|[\]{}]/g, "\\$&")
    .replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${pattern}$`, "i").test(text);
}

function fold(name: string): string {
  return name.toLowerCase();
}

function missing(): never {
  throw new Error("The model has no such thing");
}
