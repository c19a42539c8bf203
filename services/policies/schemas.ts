import { z } from "zod";
import { BOTS, type BotSettings, type KnownBot } from "./bots.ts";

export { policyFields } from "./fields.ts";
export { policyWarnings } from "./warnings.ts";

const botName = z.string().regex(/^\P{Cc}{1,64}$/u, {
  error: "must be a name of 1 to 64 characters without control characters",
});

const unknownBot = z.looseObject({ enabled: z.boolean() });

/** All policies: for each bot its settings, among them whether it is enabled. */
export const policiesSchema = z.looseObject(mapBots((bot) => bot.loose().optional()))
  .catchall(unknownBot);

/**
 * A change of policies: named fields are set, `null` removes a field, the rest stays. Unknown bots
 * and fields are kept unchanged.
 */
export const policyPatchSchema = z.looseObject(mapBots(patchOfBot))
  .catchall(unknownBot.partial().extend({ enabled: z.boolean().nullish() }).nullable())
  .check((context) => {
    for (const name of Object.keys(context.value)) {
      if (botName.safeParse(name).success) continue;
      const message = "The name of a bot must have 1 to 64 characters, no control characters";
      context.issues.push({ code: "custom", message, input: name });
    }
  });

/**
 * The settings of a known bot, with defaults for missing fields, and for those that an earlier
 * version stored with values that are no longer allowed.
 */
export function readBot<Bot extends KnownBot>(
  bot: Bot,
  settings: Readonly<Record<string, unknown>>,
): BotSettings<Bot> {
  const read = BOTS[bot].safeParse(settings);
  if (read.success) return read.data as BotSettings<Bot>;
  const refused = new Set(read.error.issues.map(({ path }) => path[0]));
  const kept = Object.entries(settings).filter(([name]) => !refused.has(name));
  return BOTS[bot].parse(Object.fromEntries(kept)) as BotSettings<Bot>;
}

function mapBots<Result>(make: (bot: z.ZodObject) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries(BOTS).map(([name, bot]) => [name, make(bot)]));
}

function patchOfBot({ shape }: z.ZodObject) {
  const fields = Object.entries(shape).map(([name, field]) =>
    [name, patchOfField(field as z.ZodType)] as const
  );
  return z.looseObject(Object.fromEntries(fields)).nullish();
}

/** A field in a change: without its default, and `null` to remove it. */
function patchOfField(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return patchOfField(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodRecord) {
    const { keyType, valueType } = schema;
    return z.record(keyType as z.ZodString, (valueType as z.ZodType).nullable()).nullish();
  }
  return schema.nullish();
}
