import type { Message } from "../../../../../services/engines/irc/mod.ts";

/** Modes that come with a parameter, when they are set or taken off. */
const WITH_PARAMETER = { set: "beIklov", takenOff: "beIkov" } as const;

interface View {
  /** Prefixes of each member by its nick in lower case. */
  readonly members: Map<string, Set<string>>;
  /** As 324 has them, without their order; null until they are told. */
  modes: Map<string, string> | null;
}

/** What a client knows of channels from nothing but what the server told it. */
export class ChannelViews {
  readonly #views = new Map<string, View>();
  nick: string;

  constructor(nick: string) {
    this.nick = nick;
  }

  /** The channels that the client is in, in lower case. */
  get channels(): string[] {
    return [...this.#views.keys()];
  }

  /** Members with their prefixes, sorted, and the modes. */
  describe(channel: string): { members: string[]; modes: string[] } {
    const { members, modes } = this.#views.get(channel) ?? { members: new Map(), modes: null };
    return {
      members: [...members].map(([nick, prefixes]) => [...prefixes].sort().join("") + nick).sort(),
      modes: [...modes ?? []].map((mode) => mode.join(" ").trim()).sort(),
    };
  }

  /** Takes in what the server says. Gives a channel that the client has just come into. */
  take({ source, command, params }: Message): string | null {
    const nick = source?.split("!")[0] ?? "";
    const isOwn = fold(nick) === fold(this.nick);
    const [first = "", second = "", third = ""] = params;
    const channel = fold(first);
    switch (command) {
      case "JOIN":
        if (isOwn) this.#views.set(channel, { members: new Map(), modes: null });
        this.#views.get(channel)?.members.set(fold(nick), new Set());
        return isOwn ? channel : null;
      case "353":
        this.#named(fold(third), params[3] ?? "");
        return null;
      case "324":
        this.#told(fold(second), params.slice(2));
        return null;
      case "PART":
        this.#left(channel, nick);
        return null;
      case "KICK":
        this.#left(channel, second);
        return null;
      case "QUIT":
        for (const { members } of this.#views.values()) members.delete(fold(nick));
        return null;
      case "NICK":
        this.#renamed(nick, first);
        if (isOwn) this.nick = first;
        return null;
      case "MODE":
        this.#changed(channel, params.slice(1));
        return null;
    }
    return null;
  }

  #named(channel: string, names: string): void {
    for (const name of names.split(" ").filter((text) => text !== "")) {
      const nick = name.replace(/^[@+]+/, "");
      const prefixes = new Set(name.slice(0, name.length - nick.length));
      this.#views.get(channel)?.members.set(fold(nick), prefixes);
    }
  }

  #told(channel: string, [letters = "", ...params]: string[]): void {
    const view = this.#views.get(channel);
    if (view === undefined) return;
    view.modes = new Map();
    for (const letter of letters.slice(1)) {
      view.modes.set(letter, "kl".includes(letter) ? params.shift() ?? "" : "");
    }
  }

  #left(channel: string, nick: string): void {
    if (fold(nick) === fold(this.nick)) this.#views.delete(channel);
    else this.#views.get(channel)?.members.delete(fold(nick));
  }

  #renamed(from: string, to: string): void {
    for (const { members } of this.#views.values()) {
      const prefixes = members.get(fold(from));
      if (prefixes === undefined) continue;
      members.delete(fold(from));
      members.set(fold(to), prefixes);
    }
  }

  #changed(channel: string, [letters = "", ...params]: string[]): void {
    const view = this.#views.get(channel);
    let add = true;
    for (const letter of letters) {
      if (letter === "+" || letter === "-") {
        add = letter === "+";
        continue;
      }
      const takes = (add ? WITH_PARAMETER.set : WITH_PARAMETER.takenOff).includes(letter);
      const param = takes ? params.shift() ?? "" : "";
      if (view === undefined || "beI".includes(letter)) continue;
      if (letter === "o" || letter === "v") {
        const prefixes = view.members.get(fold(param));
        if (add) prefixes?.add(letter === "o" ? "@" : "+");
        else prefixes?.delete(letter === "o" ? "@" : "+");
      } else if (add) {
        view.modes?.set(letter, param);
      } else {
        view.modes?.delete(letter);
      }
    }
  }
}

function fold(name: string): string {
  return name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
