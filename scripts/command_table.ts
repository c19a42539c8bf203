/**
 * Writes the table of the commands that operations declare, so that the command line loads no
 * operation: part of `deno task reference`.
 */
import { z } from "zod";
import type { OperationCommand } from "../cli/operation_command.ts";
import type { CommandDeclaration } from "../services/people/identity/command_declaration.ts";
import type { Shown } from "../services/people/identity/operation.ts";
import { allOperations, type HttpDeclaration } from "./operation_table.ts";

/** A JSON Schema, as far as commands need it. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}

/** The table of commands, as the text of a module before it is formatted. */
export async function commandTable(): Promise<string> {
  const commands = (await allOperations()).flatMap((declared) =>
    [declared.cli ?? []].flat().map((head) => commandOf(declared, head))
  ).toSorted((one, other) => one.at < other.at ? -1 : 1);
  return [
    "/** Written by `deno task reference` from the operations of services/; do not change it. */",
    'import type { OperationCommand } from "./operation_command.ts";',
    "",
    `export const COMMANDS: readonly OperationCommand[] = ${JSON.stringify(commands)};`,
    "",
  ].join("\n");
}

function commandOf(declared: HttpDeclaration, head: CommandDeclaration): OperationCommand {
  const { options, sends, aliases, items, says, notes, examples, about } = head;
  const root = schemaOf(declared.input, "input");
  const schema = resolved(root, root);
  const inPath = Array.from(declared.http.matchAll(/\{(\w+)\}/g), ([, field = ""]) => field);
  const names = Object.keys(schema.properties ?? {});
  const input: Readonly<Record<string, Schema>> = {
    // The project of an operation in a project is no field of its own.
    ...Object.fromEntries(inPath.map((field) => [field, { type: "string" }])),
    ...schema.properties,
  };
  const fail = (what: string) => new TypeError(`The command "${head.at}" ${what}`);
  const [words = "", ...places] = head.at.split(/ (?=[<[])/);
  const parameters = places.map((place) => {
    const [, open, name = "", field = name, dots = "", close] =
      /^([<[])([a-z_]+?)(?::([a-z_]+))?(\.\.\.)?([>\]])$/.exec(place) ?? [];
    const type = input[field];
    if (type === undefined) throw fail(`has no field for its argument ${place}`);
    return { usage: `${open}${name}${dots}${close}`, field, ...valueOf(type, root) };
  });
  const taken = new Set([...parameters.map(({ field }) => field), ...Object.keys(sends ?? {})]);
  const missing = inPath.find((field) => !taken.has(field));
  if (missing !== undefined) throw fail(`has no argument for {${missing}} of its path`);
  const offered = options === null
    ? []
    : names.filter((field) => !taken.has(field) && options?.[field] !== null);
  const flags = offered.flatMap((field) => {
    const type = input[field] ?? {};
    const value = valueOf(type, root);
    if (value === null) return [];
    const given = options?.[field] ?? {};
    const said = typeof given === "string" ? { about: given } : given;
    const described = said.about ?? clause(resolved(type, root).description ?? type.description);
    if (described === undefined) throw fail(`has no words for its option "${field}"`);
    const { flags = flagsOf(field, value.kind), default: usual } = said;
    const fixed = usual === undefined ? {} : { default: usual };
    return [{ field, flags, about: described, ...value, ...fixed }];
  });
  const templates = (entries?: readonly string[]) => titled(entries).map(([, text]) => text);
  const ofItems = [...templates(head.columns), ...says === undefined ? [] : [says]];
  const ofAnswer = templates(head.fields);
  const shown = [...ofItems, ...ofAnswer];
  requireFields(ofItems, declared, { items, input }, fail);
  requireFields(ofAnswer, declared, { items: undefined, input }, fail);
  const isAnswered = answerOf(declared) !== undefined;
  const [method = ""] = declared.http.split(" ");
  const isQuery = method === "GET" || method === "DELETE";
  return {
    at: words,
    about,
    ...aliases === undefined ? {} : { aliases },
    http: declared.http,
    parameters: parameters as OperationCommand["parameters"],
    options: flags,
    ...sends === undefined ? {} : { sends },
    ...isQuery || names.every((field) => inPath.includes(field)) ? {} : { hasBody: true },
    ...isAnswered && shown.length > 0 ? { hasAnswer: true } : {},
    ...head.columns === undefined ? {} : { columns: titled(head.columns, true) },
    ...items === undefined ? {} : { items },
    ...head.fields === undefined ? {} : { fields: titled(head.fields) },
    ...says === undefined ? {} : { says },
    ...notes === undefined ? {} : { notes },
    ...examples === undefined ? {} : { examples },
  };
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Schema {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Schema;
}

/** A schema without references, and without the null that it may be instead. */
function resolved(schema: Schema, root: Schema): Schema {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return resolved(root.$defs?.[name] ?? {}, root);
  }
  if (schema.type !== undefined) return schema;
  const [first, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== "null");
  return first === undefined || others.length > 0 ? schema : resolved(first, root);
}

/** How a command line says a value; null if it cannot, because it is an object. */
function valueOf(
  schema: Schema,
  root: Schema,
): Pick<OperationCommand["options"][number], "kind" | "choices"> | null {
  const { type, enum: choices, items } = resolved(schema, root);
  if (choices !== undefined) return { kind: "text", choices };
  if (type === "integer" || type === "number") return { kind: "number" };
  if (type === "boolean") return { kind: "flag" };
  if (type === "string" || type === undefined) return { kind: "text" };
  return items !== undefined && valueOf(items, root)?.kind === "text" ? { kind: "list" } : null;
}

function flagsOf(field: string, kind: OperationCommand["options"][number]["kind"]): string {
  const long = `--${field.replaceAll("_", "-")}`;
  const values = { text: " <text>", number: " <number>", list: " <names>", flag: "" };
  return `${long}${values[kind]}`;
}

/** A description as the help shows it: in lower case and without code. */
function clause(description: string | undefined): string | undefined {
  const plain = description?.replaceAll("`", "");
  return plain?.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** The titles and templates of fields: `last_seen` or `LAST SEEN: {last_seen|"never"}`. */
function titled(entries: readonly string[] = [], isTable = false): [string, string][] {
  return entries.map((entry) => {
    const [, title, template] = /^([^{:]+): (.*)$/s.exec(entry) ?? [];
    if (title !== undefined && template !== undefined) return [title, template];
    const words = entry.replaceAll("_", " ");
    return [isTable ? words.toUpperCase() : words, `{${entry}}`];
  });
}

/** The schema of an operation's answer, if it has one. */
function answerOf({ ok, created }: HttpDeclaration): z.ZodType | undefined {
  return (ok ?? created as Partial<Shown> | undefined)?.schema;
}

/** @throws TypeError if a template names a field that neither the answer nor the input has */
function requireFields(
  templates: readonly string[],
  declared: HttpDeclaration,
  { items, input }: {
    readonly items: string | undefined;
    readonly input: Readonly<Record<string, Schema>>;
  },
  fail: (what: string) => TypeError,
): void {
  const schema = answerOf(declared);
  const root = schema === undefined ? {} : schemaOf(schema, "output");
  const whole = resolved(root, root);
  const listed = items === undefined ? whole : resolved(whole.properties?.[items] ?? {}, root);
  const answer = listed.items === undefined ? whole : resolved(listed.items, root);
  const named = templates.flatMap((template) =>
    Array.from(template.matchAll(/\{([^}]*)\}/g), ([, inside = ""]) => inside)
  ).flatMap((inside) => inside.replace(/\?.*/s, "").split("|"))
    .flatMap((choice) => /^[\w.]+/.exec(choice) ?? []);
  for (const path of named) {
    const found = path.split(".").reduce<Schema | undefined>(
      (schema, key) => schema === undefined ? undefined : resolved(schema, root).properties?.[key],
      answer,
    );
    if (found === undefined && input[path] === undefined) throw fail(`shows no field "${path}"`);
  }
}

if (import.meta.main) {
  const path = new URL("../cli/operation_table.ts", import.meta.url);
  await Deno.writeTextFile(path, await commandTable());
}
