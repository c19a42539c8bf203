import assert from "node:assert/strict";
import type { BotDefinition } from "../../../../services/chat/bots/mod.ts";
import { policyFields } from "../../../../services/chat/policies/schemas.ts";

/** Notes which settings a bot reads. */
export class ReadSettings {
  readonly #read = new Set<string>(["enabled"]);

  /** The bot, with settings that note their reader. */
  watch(bot: BotDefinition): BotDefinition {
    const { pace, start } = bot;
    return {
      ...bot,
      ...pace === undefined ? {} : { pace: (settings) => pace(this.noting(settings)) },
      start: (context) =>
        start({ ...context, settings: () => this.noting(context.settings()) as never }),
    };
  }

  /** Fails if the bot has a setting that it does not read, or reads one that it does not have. */
  assertAll(bot: string): void {
    const fields = (policyFields(bot) ?? []).map(({ name }) => name);
    assert.deepEqual([...this.#read].sort(), fields.sort());
  }

  /** Settings that note who reads them. */
  noting(settings: unknown): object {
    return new Proxy(settings as object, {
      get: (target, key, receiver) => {
        this.#read.add(String(key));
        return Reflect.get(target, key, receiver);
      },
    });
  }
}
