import { Invalid } from "../../services/errors.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  type PolicyField,
} from "../../services/policies/mod.ts";
import type { Visit } from "../visit.ts";
import { Select, TextArea, TextField } from "./form.tsx";

/** Before the names of fields, which could otherwise be those of the form itself. */
const PREFIX = "field.";

/** The fields of a bot's settings. */
export function PolicyFields({ visit, fields, settings }: {
  readonly visit: Visit;
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
          value={settings[field.name] ?? null}
        />
      ))}
    </>
  );
}

function PolicyFieldView({ visit, field, value }: {
  readonly visit: Visit;
  readonly field: PolicyField;
  readonly value: Json;
}) {
  const name = PREFIX + field.name;
  const label = words(field.name);
  switch (field.kind) {
    case "flag": {
      const isOn = visit.entered("action") === "save" ? visit.form.has(name) : value === true;
      return (
        <p>
          <label>
            <input type="checkbox" name={name} value="yes" checked={isOn} /> {label}
          </label>
        </p>
      );
    }
    case "choice":
      return (
        <Select
          visit={visit}
          name={name}
          label={label}
          value={String(value ?? "")}
          options={field.choices.map((choice) => [choice, choice])}
        />
      );
    case "texts":
      return (
        <TextArea
          visit={visit}
          name={name}
          label={label}
          rows={3}
          value={Array.isArray(value) ? value.join("\n") : ""}
          hint="One per line"
        />
      );
    case "map":
      return (
        <TextArea
          visit={visit}
          name={name}
          label={label}
          rows={3}
          value={isObject(value) ? linesOf(value) : ""}
          hint="A line for each: name = value"
        />
      );
    default:
      return (
        <TextField
          visit={visit}
          name={name}
          label={label}
          value={value === null ? "" : String(value)}
          hint="Empty: the default"
        />
      );
  }
}

/**
 * What the form says of the fields; null for one that is empty and gets its default.
 *
 * @throws Invalid
 */
export function readFields(visit: Visit, fields: readonly PolicyField[]): JsonObject {
  return Object.fromEntries(fields.map((field) => [field.name, readField(visit, field)]));
}

function readField(visit: Visit, { name, kind }: PolicyField): Json {
  const text = visit.entered(PREFIX + name).trim();
  switch (kind) {
    case "flag":
      return visit.form.has(PREFIX + name);
    case "texts":
      return lines(text);
    case "map":
      return mapOf(name, text);
    case "number": {
      if (text === "") return null;
      const number = Number(text);
      if (!Number.isFinite(number)) throw new Invalid(`"${words(name)}" must be a number`);
      return number;
    }
    default:
      return text === "" ? null : text;
  }
}

function mapOf(name: string, text: string): JsonObject {
  return Object.fromEntries(
    lines(text).map((line) => {
      const [, key, value] = /^([^=]+?)\s*=\s*(.*)$/.exec(line) ?? [];
      if (key === undefined || value === undefined) {
        throw new Invalid(`"${words(name)}" must have lines such as name = value`);
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

/** The names of fields whose own words do not explain them. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["web_user_ttl_minutes", "Presence over HTTP lasts (minutes)"],
]);

/** The name of a field in words, such as "Rate limit" or "Cooldown (seconds)". */
function words(name: string): string {
  const label = LABELS.get(name);
  if (label !== undefined) return label;
  const text = name.replace(/_sec$/, " (seconds)").replace(/_mb$/, " (MB)")
    .replace(/_minutes$/, " (minutes)").replace(/_days$/, " (days)").replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
