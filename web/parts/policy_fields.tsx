import { Invalid } from "../../services/kernel/errors.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  type PolicyField,
} from "../../services/chat/policies/mod.ts";
import type { Visit } from "../visit.ts";
import { Select, TextArea, TextField } from "./form.tsx";
import { type FieldWords, wordsOf } from "./policy_words.ts";

/** Before the names of fields, which could otherwise be those of the form itself. */
const PREFIX = "field.";

/** The fields of a bot's settings. */
export function PolicyFields({ visit, bot, fields, settings }: {
  readonly visit: Visit;
  readonly bot: string;
  readonly fields: readonly PolicyField[];
  readonly settings: JsonObject;
}) {
  return (
    <>
      {fields.map((field) => (
        <PolicyFieldView
          key={field.name}
          visit={visit}
          field={field}
          words={wordsOf(bot, field.name)}
          value={settings[field.name] ?? null}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly visit: Visit;
  readonly field: PolicyField;
  readonly words: FieldWords;
  readonly value: Json;
}

function PolicyFieldView(props: FieldProps) {
  const { visit, field, words: { label, hint, isLong = false }, value } = props;
  const name = PREFIX + field.name;
  const common = { visit, name, label, ...hinted(hint) };
  switch (field.kind) {
    case "flag":
      return <Flag {...props} />;
    case "choice":
      return (
        <Select
          {...common}
          value={String(value ?? "")}
          options={field.choices.map((choice) => [choice, choice])}
        />
      );
    case "texts":
      return (
        <TextArea
          {...common}
          {...hinted(hint, "One per line.")}
          rows={3}
          value={Array.isArray(value) ? value.join("\n") : ""}
        />
      );
    case "map":
      return (
        <TextArea
          {...common}
          {...hinted(hint, "A line for each: name = value.")}
          rows={3}
          value={isObject(value) ? linesOf(value) : ""}
        />
      );
    default: {
      const text = value === null ? "" : String(value);
      if (isLong) return <TextArea {...common} value={text} />;
      const { byDefault } = field;
      const unset = byDefault === null ? undefined : `Empty: ${byDefault}.`;
      return <TextField {...common} {...hinted(hint, unset)} value={text} />;
    }
  }
}

/** The sentences of a hint; without any, there is none. */
function hinted(...sentences: readonly (string | undefined)[]): { readonly hint?: string } {
  const hint = sentences.filter((sentence) => sentence !== undefined).join(" ");
  return hint === "" ? {} : { hint };
}

function Flag({ visit, field, words: { label, hint }, value }: FieldProps) {
  const name = PREFIX + field.name;
  const isOn = visit.entered("action") === "save" ? visit.form.has(name) : value === true;
  const described = hint === undefined ? undefined : `${name}-hint`;
  return (
    <div class="field">
      <label>
        <input
          type="checkbox"
          name={name}
          value="yes"
          checked={isOn}
          aria-describedby={described}
        />{" "}
        {label}
      </label>
      {hint !== undefined && <p class="hint" id={described}>{hint}</p>}
    </div>
  );
}

/**
 * What the form says of the fields; null for one that is empty and gets its default.
 *
 * @throws Invalid
 */
export function readFields(
  visit: Visit,
  bot: string,
  fields: readonly PolicyField[],
): JsonObject {
  return Object.fromEntries(fields.map((field) => {
    const { label } = wordsOf(bot, field.name);
    return [field.name, readField(visit, field, label)];
  }));
}

function readField(visit: Visit, { name, kind }: PolicyField, label: string): Json {
  const text = visit.entered(PREFIX + name).replaceAll("\r\n", "\n").trim();
  switch (kind) {
    case "flag":
      return visit.form.has(PREFIX + name);
    case "texts":
      return lines(text);
    case "map":
      return mapOf(label, text);
    case "number": {
      if (text === "") return null;
      const number = Number(text);
      if (!Number.isFinite(number)) throw new Invalid(`"${label}" must be a number`);
      return number;
    }
    default:
      return text === "" ? null : text;
  }
}

function mapOf(label: string, text: string): JsonObject {
  return Object.fromEntries(
    lines(text).map((line) => {
      const [, key = "", value] = /^([^=]+)=(.*)$/.exec(line)?.map((part) => part.trim()) ?? [];
      if (key === "" || value === undefined) {
        throw new Invalid(`"${label}" must have lines such as name = value`);
      }
      return [key, value];
    }),
  );
}

function lines(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function linesOf(map: JsonObject): string {
  return Object.entries(map).map(([key, value]) => `${key} = ${value}`).join("\n");
}
