import { type ChannelKeeper, foldCase, type Keeping, type KeptChannel } from "../../irc/mod.ts";
import type { RegisteredChannels } from "./registered_channels.ts";
import type { UnregisteredChannels } from "./unregistered_channels.ts";

/** What is stored of channels, registered or not. A registered channel comes first. */
export class ChannelStore implements ChannelKeeper {
  readonly #registered: RegisteredChannels;
  readonly #unregistered: UnregisteredChannels;

  constructor(registered: RegisteredChannels, unregistered: UnregisteredChannels) {
    this.#registered = registered;
    this.#unregistered = unregistered;
  }

  find(channel: string): KeptChannel | null {
    return this.#registered.find(channel) ?? this.#unregistered.find(foldCase(channel));
  }

  async changed(channel: KeptChannel): Promise<Keeping> {
    if (!this.#registered.isRegistered(channel.name)) return this.#unregistered.changed(channel);
    const isStored = await this.#registered.changed(channel);
    // A registered channel comes first, so a row that stays does no harm.
    await this.#unregistered.remove(foldCase(channel.name));
    return isStored ? "stored" : "refused";
  }

  emptied(channel: KeptChannel): boolean {
    return this.#unregistered.emptied(channel);
  }

  renamed(before: string, channel: KeptChannel): Promise<Keeping> {
    return this.#unregistered.renamed(before, channel);
  }
}
