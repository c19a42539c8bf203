import type { Bridge } from "../../chat/bridge/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { channelName, foldCase } from "../../engines/irc/mod.ts";
import type { OwnedChannels } from "../../chat/irc_server/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { type HeldProject, mayRead, type Project, type Projects } from "../../work/projects/mod.ts";

/** How the default name of a project's channel begins. Only projects have such channels. */
const PREFIX = "#project-";

/** The part of the IRC server that controls who is in a channel. */
export interface ChannelDoors {
  /** Begins to ask these channels. */
  attach(owned: OwnedChannels): void;
  /** Removes members that a channel no longer admits. */
  enforce(channel: string): void;
  /** Takes a channel from its first members. */
  claim(channel: string): void;
  /** Forgets the messages from when a channel was closed. */
  forget(channel: string): void;
}

export interface ProjectChannelsOptions {
  readonly projects: Pick<Projects, "all" | "get" | "onChanged">;
  readonly accounts: Pick<AccountDirectory, "find">;
  /** Null on an external network, where muster does not control channels. */
  readonly doors: ChannelDoors | null;
  readonly bridge: Pick<Bridge, "part"> | null;
  /** Channels in the configuration, which are open. */
  readonly configured: readonly string[];
  readonly log: Log;
}

/**
 * The channels of projects. The channel of a private project admits only accounts that may read the
 * project; a change takes effect as soon as it is on disk. A channel that the configuration or
 * another, non-private project also names is open.
 */
export class ProjectChannels implements OwnedChannels {
  readonly #options: ProjectChannelsOptions;
  readonly #configured: ReadonlySet<string>;
  /** The folded names of projects' channels, by the project's internal id. */
  readonly #names = new Map<string, string>();
  /** Projects by the folded name of their channel. */
  readonly #projects = new Map<string, Set<string>>();
  /** Former channels of projects, until their messages are forgotten. */
  readonly #ending = new Set<string>();

  constructor(options: ProjectChannelsOptions) {
    this.#options = options;
    this.#configured = new Set(options.configured.map((name) => foldCase(channelName(name) ?? "")));
    for (const { project } of options.projects.all()) this.#note(project);
    options.projects.onChanged((id, held) => this.#changed(id, held));
    options.doors?.attach(this);
    for (const name of this.#projects.keys()) {
      options.doors?.claim(name);
      options.doors?.enforce(name);
    }
  }

  /** The channel of a project; null for none. */
  nameOf({ slug, channel, visibility }: Project): string | null {
    if (channel !== null) return channelName(channel);
    const isOpen = visibility !== "private" || this.#options.doors !== null;
    return isOpen ? defaultName(slug) : null;
  }

  /** Whether a project's lines must name it, because it may share its channel. */
  isShared({ slug, channel }: Project): boolean {
    return channel !== null && foldCase(channelName(channel) ?? "") !== foldCase(defaultName(slug));
  }

  owns(channel: string): boolean {
    return this.#projects.has(foldCase(channel));
  }

  admits(accountName: string | null, channel: string): boolean | null {
    const folded = foldCase(channel);
    if (this.#ending.has(folded)) return false;
    if (this.#isUnused(folded)) return false;
    const projects = this.#privateOnesOf(folded);
    if (projects.length === 0) return null;
    const account = accountName === null ? null : this.#options.accounts.find(accountName);
    if (account === null || account.revokedAt !== null) return false;
    return projects.every((held) => mayRead(held, account));
  }

  /**
   * Whether a channel has the name for a project's channel, but no project. Such a channel admits
   * nobody, so its name does not tell whether there is a private project.
   */
  #isUnused(folded: string): boolean {
    return folded.startsWith(PREFIX) && !this.#projects.has(folded) &&
      !this.#configured.has(folded);
  }

  /** The private projects that close a channel; none if it is open. */
  #privateOnesOf(folded: string): readonly HeldProject[] {
    const ids = this.#projects.get(folded);
    if (ids === undefined || this.#configured.has(folded)) return [];
    const projects = Array.from(ids, (id) => this.#options.projects.get(id))
      .filter((held) => held !== null);
    return projects.every(({ project }) => project.visibility === "private") ? projects : [];
  }

  #changed(id: string, held: HeldProject | null): void {
    const { doors } = this.#options;
    const before = this.#names.get(id);
    this.#forget(id);
    const after = held === null ? undefined : this.#note(held.project);
    if (before !== undefined && before !== after && !this.#projects.has(before)) this.#end(before);
    if (after === undefined) return;
    if (after !== before) {
      // A channel of this name may have been another project's, or anybody's.
      if (before === undefined && this.#privateOnesOf(after).length > 0) doors?.forget(after);
      doors?.claim(after);
    }
    doors?.enforce(after);
  }

  /** Empties a former channel, and forgets the messages that only members could read. */
  #end(folded: string): void {
    const { doors, bridge, log } = this.#options;
    if (doors === null || this.#configured.has(folded)) return;
    this.#ending.add(folded);
    doors.enforce(folded);
    const parted = bridge?.part(folded) ?? Promise.resolve();
    void parted.catch((error: unknown) => {
      log.warn("The bridge could not leave the channel of a project", { channel: folded, error });
    }).then(() => {
      doors.forget(folded);
      this.#ending.delete(folded);
      doors.enforce(folded);
    });
  }

  #note(project: Project): string | undefined {
    const name = this.nameOf(project);
    if (name === null) return undefined;
    const folded = foldCase(name);
    this.#names.set(project.id, folded);
    this.#projects.set(folded, (this.#projects.get(folded) ?? new Set()).add(project.id));
    return folded;
  }

  #forget(id: string): void {
    const folded = this.#names.get(id);
    if (folded === undefined) return;
    this.#names.delete(id);
    const projects = this.#projects.get(folded);
    projects?.delete(id);
    if (projects?.size === 0) this.#projects.delete(folded);
  }
}

function defaultName(slug: string): string {
  return PREFIX + slug;
}
