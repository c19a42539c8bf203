import { type Database, type Directory, statement, Unchanged } from "../../engines/database/mod.ts";
import { Invalid, TooLarge } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { DEFAULTS, type KnownBot } from "./known_bots.ts";
import {
  diffPatch,
  isObject,
  type Json,
  type JsonObject,
  mergePatch,
  pathsOf,
} from "./merge_patch.ts";
import type { BotSettings, readBot } from "./schemas.ts";

/** The key of the differences from the defaults in the settings table. */
const KEY = "policies";

/** The largest document of policies, in bytes of JSON. */
const MAX_BYTES = 65_536;

/** Deepest nesting of objects and arrays. */
const MAX_DEPTH = 16;

/** Fields for secrets, which the database must not contain. */
const SECRETS: ReadonlySet<string> = new Set(["api_key", "aws_secret_key"]);

/** Most keys named in the event of a change. */
const MAX_PATHS = 100;

/** Characters of one such key. */
const MAX_PATH_LENGTH = 200;

export interface PoliciesOptions {
  readonly database: Database;
  /** The bridge's section of the configuration. */
  readonly bridge: { readonly enabled: boolean; readonly web_user_ttl_minutes: number };
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** All policies: the settings of each bot, by its name. */
export type PolicyDocument = Record<string, JsonObject>;

/** Called after a change is written. */
export type PolicyListener = () => void;

/**
 * The operator's settings of each bot: one document, keyed by the bot's name, changed by merging.
 * Only differences from the defaults are stored, so that a new default applies to everything unset.
 */
export class Policies implements Directory {
  readonly tables = ["settings"] as const;
  readonly #options: PoliciesOptions;
  readonly #defaults: PolicyDocument;
  readonly #listeners = new Set<PolicyListener>();
  #document: PolicyDocument;
  /** Reads what is stored of a bot; null while every setting is the default. */
  #reader: typeof readBot | null = null;
  /** The row in the database; null if there is none. */
  #stored: string | null = null;
  /** Whether the last load changed anything. */
  #isReplaced = false;
  /** The last change. The next one waits for it, because it builds on it. */
  #changed: Promise<unknown> = Promise.resolve();

  private constructor(options: PoliciesOptions) {
    this.#options = options;
    const { enabled, web_user_ttl_minutes } = options.bridge;
    this.#defaults = {
      ...DEFAULTS,
      bridge: { enabled, web_user_ttl_minutes },
    };
    this.#document = this.#completed(this.#defaults);
  }

  /** Reads the settings from the database. */
  static async open(options: PoliciesOptions): Promise<Policies> {
    const policies = new Policies(options);
    await options.database.keepCurrent(policies);
    return policies;
  }

  async load(): Promise<void> {
    const row = await this.#options.database.tables.selectFrom("settings").select("value")
      .where("key", "=", KEY).executeTakeFirst();
    const stored = row?.value ?? null;
    this.#isReplaced = stored !== this.#stored;
    if (!this.#isReplaced) return;
    this.#stored = stored;
    if (stored !== null) await this.#loadReader();
    const differences = stored === null ? {} : JSON.parse(stored);
    this.#document = this.#completed(mergePatch(this.#defaults, differences));
  }

  announce(): void {
    if (this.#isReplaced) this.#announce();
    this.#isReplaced = false;
  }

  /** Every policy, with defaults for unset fields. */
  read(): PolicyDocument {
    return this.#document;
  }

  /** The settings of a known bot. */
  of<Bot extends KnownBot>(bot: Bot): BotSettings<Bot> {
    const settings = mergePatch(this.#defaults[bot], this.#document[bot] ?? {});
    if (this.#reader === null) return settings as BotSettings<Bot>;
    return this.#reader(bot, isObject(settings) ? settings : {});
  }

  /**
   * Merges a change into the policies (RFC 7396). It takes effect at once.
   *
   * @returns all of them
   * @throws Invalid if it is nested too deep, contains the key of a provider, or sets what the
   * configuration decides
   * @throws TooLarge if the policies would become too large, Unavailable
   */
  change(patch: JsonObject, caller: Caller): Promise<PolicyDocument> {
    const change = this.#changed.then(() => this.#change(patch, caller));
    this.#changed = change.catch(() => {});
    return change;
  }

  /**
   * Calls a listener after every change.
   *
   * @returns a function that ends the subscription
   */
  onChanged(listener: PolicyListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #change(patch: JsonObject, caller: Caller): Promise<PolicyDocument> {
    assertStorable(patch, 0);
    const document = this.#completed(mergePatch(this.#document, patch));
    this.#assertConfigured(document);
    const changed = diffPatch(this.#document, document);
    const keys = pathsOf(changed);
    if (keys.length === 0) return this.#document;
    if (new TextEncoder().encode(JSON.stringify(document)).length > MAX_BYTES) {
      throw new TooLarge(`The policies would be larger than ${MAX_BYTES} bytes`);
    }
    await this.#loadReader();
    try {
      await this.#store(document, keys, caller);
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      // Another program changed them meanwhile.
      await this.load();
      this.announce();
      return await this.#change(patch, caller);
    }
    this.#announce();
    return document;
  }

  /** @throws Unchanged if the row is not as it was read */
  async #store(document: PolicyDocument, paths: readonly string[], caller: Caller): Promise<void> {
    const { database, clock } = this.#options;
    const keys = paths.slice(0, MAX_PATHS).map((path) => path.slice(0, MAX_PATH_LENGTH));
    const value = JSON.stringify(diffPatch(this.#defaults, document));
    const before = this.#stored ?? "";
    const storing = database.tables.insertInto("settings").values({ key: KEY, value })
      .onConflict((conflict) =>
        conflict.column("key").doUpdateSet({ value }).where("settings.value", "=", before)
      );
    const committed = () => {
      this.#stored = value;
      this.#document = document;
    };
    await database.commit({
      statements: [statement(storing, { mustChange: true, committed })],
      events: [newEvent("policy.changed", { keys }, originOf(caller), clock())],
    });
  }

  async #loadReader(): Promise<void> {
    this.#reader ??= (await import("./schemas.ts")).readBot;
  }

  #announce(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (error) {
        this.#options.log.error("A listener for changed policies failed", { error });
      }
    }
  }

  /** Adds `enabled` to every entry. */
  #completed(document: Json): PolicyDocument {
    const entries = Object.entries(isObject(document) ? document : {});
    return Object.fromEntries(entries.flatMap(([bot, settings]) => {
      if (!isObject(settings)) return [];
      const defaults = Object.hasOwn(this.#defaults, bot) ? this.#defaults[bot] : undefined;
      return [[bot, { enabled: defaults?.["enabled"] === true, ...settings }]];
    }));
  }

  /** Whether the bridge runs is decided when the program starts. */
  #assertConfigured({ bridge }: PolicyDocument): void {
    if (bridge === undefined || bridge["enabled"] === this.#options.bridge.enabled) return;
    throw new Invalid('"bridge.enabled" is set in the configuration and cannot be changed here');
  }
}

function assertStorable(value: Json | undefined, depth: number): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Invalid("A number in the policies is too large");
  }
  if (typeof value !== "object" || value === null) return;
  if (depth >= MAX_DEPTH) throw new Invalid(`Policies are nested at most ${MAX_DEPTH} levels deep`);
  for (const [key, nested] of Object.entries(value)) {
    if (SECRETS.has(key) && nested !== null) {
      throw new Invalid(`"${key}" is a secret; name a backend, whose key is in the environment`);
    }
    assertStorable(nested, depth + 1);
  }
}

/** Why there are no policies, if the configuration turns them off. */
export const NO_POLICIES = "There are no settings: policies.enabled is false in the configuration";
