/** Clients whose entry is a member of an object in a JSON file. */
import {
  type Client,
  environmentOf,
  type Launch,
  type Reference,
  TOKEN_VARIABLE,
} from "./client.ts";
import { isObject, type JsonObject, parseJson, setJson, valueAt } from "./config_text.ts";

/** How a client writes an entry. */
export interface JsonForm {
  /** The object of all entries. */
  readonly parent: string;
  readonly entry: (launch: Launch) => JsonObject;
  /** A question that the client asks for the token; the list of them is the key `inputs`. */
  readonly input?: JsonObject & { readonly id: string };
}

/** The words in which most clients write an entry. */
interface Words {
  /** The value of `type` for a program; absent if the client writes none. */
  readonly stdio?: string;
  /** The key of a URL; `url` if absent. */
  readonly url?: string;
  /** The value of `type` for a URL; absent if the client writes none. */
  readonly http?: string;
  readonly reference: Reference;
  /** What a new entry also says. */
  readonly also?: JsonObject;
}

/** The entries of a form. */
export function inJson(form: JsonForm): Pick<Client, "show" | "add" | "remove"> {
  return {
    show: (name, launch) =>
      JSON.stringify({ [form.parent]: { [name]: form.entry(launch) } }, null, 2),
    add: (name, launch) => addEntry(form, name, launch),
    remove: (name) => removeEntry(form, name),
  };
}

/** The entry of most clients: `command`, `args` and `env`, or a URL with `headers`. */
export function entryIn(words: Words) {
  return (launch: Launch): JsonObject => {
    if (launch.kind === "http") {
      const headers = { Authorization: `Bearer ${words.reference(TOKEN_VARIABLE)}` };
      const type = words.http === undefined ? {} : { type: words.http };
      return { ...type, [words.url ?? "url"]: launch.url, headers, ...words.also };
    }
    return {
      ...words.stdio === undefined ? {} : { type: words.stdio },
      command: launch.command,
      args: launch.args,
      env: environmentOf(launch, words.reference),
      ...words.also,
    };
  };
}

/** The keys under which clients have the variables of the started program. */
const ENVIRONMENTS = ["env", "environment"];

/** The keys of an entry that muster writes. All others are the person's own. */
const OWN_KEYS = [
  "type",
  "command",
  "args",
  ...ENVIRONMENTS,
  "url",
  "httpUrl",
  "headers",
  "oauth",
  "envFile",
];
/** Writes the entry into a text; keeps the keys of an older entry that are not muster's. */
function addEntry(form: JsonForm, name: string, launch: Launch) {
  return (text: string): string => {
    const place = [form.parent, name];
    const entry = form.entry(launch);
    const older = valueAt(parseJson(text), place);
    if (!isObject(older)) return addInput(form, setJson(text, place, entry), entry);
    const wanted = withOwnEnvironment(entry, older);
    const edited = OWN_KEYS.reduce(
      (changed, key) => setJson(changed, [...place, key], wanted[key]),
      text,
    );
    return addInput(form, edited, entry);
  };
}

/** Removes the entry, and the question for its token. */
function removeEntry(form: JsonForm, name: string) {
  return (text: string): string => {
    if (valueAt(parseJson(text), [form.parent, name]) === undefined) return text;
    const without = setJson(text, [form.parent, name], undefined);
    const index = inputsOf(parseJson(without)).findIndex((one) => isInput(form, one));
    const isNeeded = JSON.stringify(valueAt(parseJson(without), [form.parent]))
      .includes(`\${input:${form.input?.id}}`);
    return index < 0 || isNeeded ? without : setJson(without, ["inputs", index], undefined);
  };
}

/** Keeps the variables of an older entry that are not muster's. */
function withOwnEnvironment(entry: JsonObject, older: JsonObject): JsonObject {
  const kept = ENVIRONMENTS.flatMap((key) => {
    const [now, before] = [entry[key], older[key]];
    if (!isObject(now) || !isObject(before)) return [];
    const others = Object.entries(before).filter(([name]) => !name.startsWith("MUSTER_"));
    return [[key, { ...Object.fromEntries(others), ...now }]];
  });
  return { ...entry, ...Object.fromEntries(kept) };
}

function addInput(form: JsonForm, text: string, entry: JsonObject): string {
  if (form.input === undefined || !JSON.stringify(entry).includes("${input:")) return text;
  if (inputsOf(parseJson(text)).some((one) => isInput(form, one))) return text;
  if (valueAt(parseJson(text), ["inputs"]) === undefined) {
    return setJson(text, ["inputs"], [form.input]);
  }
  return setJson(text, ["inputs", -1], form.input);
}

function inputsOf(tree: JsonObject): readonly unknown[] {
  const { inputs } = tree;
  return Array.isArray(inputs) ? inputs : [];
}

function isInput({ input }: JsonForm, value: unknown): boolean {
  return input !== undefined && isObject(value) && value["id"] === input.id;
}
