/** Clients whose entry is a member of an object in a JSON file. */
import { environmentOf, type Launch, type Reference, TOKEN_VARIABLE } from "./entry.ts";
import { isObject, type JsonObject, parseJson, setJson, valueAt } from "./json_text.ts";

/** How a client writes an entry. */
export interface JsonForm {
  /** The object of all entries. */
  readonly parent: string;
  /** The value of `type` for a program; absent if the client writes none. */
  readonly stdio?: string;
  /** The value of `type` for a URL; absent if the client writes none. */
  readonly http?: string;
  readonly reference: Reference;
  /** A question that the client asks for the token; the list of them is the key `inputs`. */
  readonly input?: JsonObject & { readonly id: string };
}

/** The keys of an entry that muster writes. All others are the person's own. */
const OWN_KEYS = ["type", "command", "args", "env", "url", "httpUrl", "headers", "envFile"];

/** The entry of a launch. */
export function jsonEntry(form: JsonForm, launch: Launch): JsonObject {
  if (launch.kind === "http") {
    const headers = { Authorization: `Bearer ${form.reference(TOKEN_VARIABLE)}` };
    return { ...form.http === undefined ? {} : { type: form.http }, url: launch.url, headers };
  }
  return {
    ...form.stdio === undefined ? {} : { type: form.stdio },
    command: launch.command,
    args: launch.args,
    env: environmentOf(launch, form.reference),
  };
}

/** Writes the entry into a text; keeps the keys of an older entry that are not muster's. */
export function addJsonEntry(form: JsonForm, name: string, launch: Launch) {
  return (text: string): string => {
    const place = [form.parent, name];
    const entry = jsonEntry(form, launch);
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
export function removeJsonEntry(form: JsonForm, name: string) {
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
  const { env } = older;
  if (!isObject(entry["env"]) || !isObject(env)) return entry;
  const others = Object.entries(env).filter(([key]) => !key.startsWith("MUSTER_"));
  return { ...entry, env: { ...Object.fromEntries(others), ...entry["env"] } };
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
