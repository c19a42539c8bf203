import { Conflict } from "../errors.ts";
import { foldCase, isChannelName } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Channel } from "./channel.ts";
import type { ChannelNews } from "./channel_news.ts";
import type { LastingChannels } from "./lasting_channels.ts";
import type { LinkEvent } from "./link_events.ts";

/**
 * Most channels that the bridge is in only by invitation and that nobody uses, so that invitations
 * cannot take all places.
 */
const MAX_INVITED = 10;

export interface ChannelEventsOptions {
  /** By folded name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly news: ChannelNews;
  readonly lasting: LastingChannels;
  /** Whether bridges of other nodes enter the same channels. */
  readonly hasNodes: boolean;
  readonly link: { readonly nick: string; part(channel: string, reason: string): void };
  readonly max: number;
  /** Reads back earlier messages of a channel that the bridge has entered. Must not reject. */
  readonly recall: (channel: Channel) => Promise<void>;
  /** Adds a channel that the server has put the bridge into. */
  create(name: string): Channel;
  /** Begins to enter a channel for nobody. */
  enter(name: string): Channel;
  /** Removes a channel, and ends its readers. */
  drop(channel: Channel, reason: string): void;
  readonly log: Log;
}

/** Keeps channels and their members as the server tells. */
export class ChannelEvents {
  readonly #options: ChannelEventsOptions;
  readonly #channels: ReadonlyMap<string, Channel>;
  readonly #news: ChannelNews;

  constructor(options: ChannelEventsOptions) {
    this.#options = options;
    this.#channels = options.channels;
    this.#news = options.news;
  }

  /** Updates the members of channels. */
  handle(event: LinkEvent): void {
    switch (event.kind) {
      case "join":
        return this.#joined(event.channel, event.nick, event.account);
      case "part":
        return this.#parted(event.channel, event.nick, event.by ?? null);
      case "quit":
        for (const channel of this.#channels.values()) {
          if (this.#removeMember(channel, event.nick)) this.#news.note(channel, "quit", event.nick);
        }
        return;
      case "nick":
        for (const channel of this.#channels.values()) {
          if (!channel.renameMember(event.from, event.to)) continue;
          this.#news.tell(channel, { kind: "left", nick: event.from });
          this.#news.tell(channel, { kind: "joined", nick: event.to });
          this.#news.note(channel, "nick", event.from, { to: event.to });
        }
        return;
      case "names":
        return this.#named(event.channel, event.nicks);
      case "topic": {
        const channel = this.#channels.get(foldCase(event.channel));
        if (channel === undefined) return;
        channel.topic = event.topic;
        return this.#news.tell(channel, { kind: "topic", topic: event.topic });
      }
      case "invite":
        return this.#invited(event.channel);
      case "refusal":
        return this.#refused(event.channel, event.reason);
    }
  }

  #joined(name: string, nick: string, account: string | null): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel !== undefined) {
      if (this.#news.isUs(nick)) channel.name = name;
      channel.addMember(nick);
      this.#news.tell(channel, { kind: "joined", nick });
      if (!this.#news.isUs(nick)) this.#news.note(channel, "join", nick, { account });
      return;
    }
    if (!this.#news.isUs(nick) || !isChannelName(name)) return;
    // A late confirmation, or an operator of the network made us join.
    if (this.#channels.size >= this.#options.max) {
      return this.#options.link.part(name, "Too many channels");
    }
    this.#options.create(name).addMember(nick);
  }

  #parted(name: string, nick: string, by: string | null): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel === undefined) return;
    if (this.#removeMember(channel, nick) && !this.#news.isUs(nick)) {
      this.#news.note(channel, by === null ? "part" : "kick", nick, { by });
    }
    if (!this.#news.isUs(nick)) return;
    this.#options.drop(channel, "The bridge left the channel");
    if (channel.leaving === null) this.#options.lasting.removedFrom(channel);
  }

  /** @returns whether it was a member */
  #removeMember(channel: Channel, nick: string): boolean {
    if (!channel.removeMember(nick)) return false;
    this.#news.tell(channel, { kind: "left", nick });
    return true;
  }

  #named(name: string, nicks: readonly string[]): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel === undefined) return;
    channel.setMembers(nicks);
    const isNew = !channel.entered;
    channel.entered = true;
    if (isNew) this.#news.note(channel, "join", this.#options.link.nick);
    if (channel.invited || channel.entering === null) this.#share(channel);
    if (channel.entering === null) return;
    const recalling = this.#options.recall(channel).then(() => {
      if (channel.recalling === recalling) channel.recalling = null;
    });
    channel.recalling = recalling;
    channel.entering.confirm();
    channel.entering = null;
  }

  /** Lets other nodes enter a channel that nobody asked this one for. */
  #share(channel: Channel): void {
    if (!this.#options.hasNodes) return;
    this.#options.lasting.note(channel, null)?.catch((error: unknown) => {
      const { name } = channel;
      this.#options.log.warn("Other nodes could not be told of a channel", {
        channel: name,
        error,
      });
    });
  }

  #invited(name: string): void {
    const { max, log } = this.#options;
    if (this.#channels.has(foldCase(name)) || !isChannelName(name)) return;
    const invited = [...this.#channels.values()].filter((channel) => channel.invited).length;
    if (invited >= MAX_INVITED || this.#channels.size >= max) {
      return log.info("An invitation is not followed: too many channels", { channel: name });
    }
    this.#options.enter(name).invited = true;
  }

  #refused(name: string, reason: string): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel === undefined) return;
    channel.entering?.refuse(new Conflict(`${channel.name} refuses the bridge: ${reason}`));
    if (channel.leaving !== null) this.#options.drop(channel, "The bridge left the channel");
  }
}
