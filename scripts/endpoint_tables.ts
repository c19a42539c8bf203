/**
 * Writes the tables of endpoints in the documentation from the operations: part of
 * `deno task reference`. A page says between which comments a table stands, and of which paths:
 *
 * <!-- endpoints: /api/tickets /api/claims -->
 * <!-- end of endpoints -->
 */
import { z } from "zod";
import { allOperations, type HttpDeclaration } from "./operation_table.ts";

/** The comments around a table. */
const [BEGIN, END] = ["<!-- endpoints: ", "<!-- end of endpoints -->"];

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Who may call an operation on the server, by what it acts on. */
const CALLERS = {
  server: "admins",
  coordination: "agents, admins",
  questions: "agents, people, admins",
  account: "agents, people, admins",
  models: "agents, admins",
  runner: "runners",
  projects: "agents, people, admins, tokens of projects",
} as const;

/** The pages with tables, as they should be before they are formatted, by their paths. */
export async function endpointPages(): Promise<ReadonlyMap<string, string>> {
  const rows = (await allOperations()).map(rowOf).toSorted((one, other) =>
    one.path === other.path
      ? METHODS.indexOf(one.method) - METHODS.indexOf(other.method)
      : one.path < other.path
      ? -1
      : 1
  );
  const left = new Set(rows);
  const pages = new Map<string, string>();
  for (const path of await pagesBelow("docs")) {
    const text = await Deno.readTextFile(new URL(`../${path}`, import.meta.url));
    const [head = "", ...tables] = text.split(BEGIN);
    const written = tables.map((part) => {
      const [prefixes = ""] = part.split(" -->", 1);
      const mine = rows.filter(({ path }) =>
        prefixes.split(" ").some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
      );
      for (const row of mine) left.delete(row);
      const rest = part.slice(part.indexOf(END));
      return `${BEGIN}${prefixes} -->\n\n${tableOf(mine)}\n\n${rest}`;
    });
    if (written.length > 0) pages.set(path, [head, ...written].join(""));
  }
  const [{ method, path } = { method: "", path: "" }] = left;
  if (path !== "") throw new TypeError(`No page of docs/ has a table for ${method} ${path}`);
  return pages;
}

type Row = ReturnType<typeof rowOf>;

function rowOf(declared: HttpDeclaration) {
  const [method = "", whole = ""] = declared.http.split(" ");
  const path = whole.replace("/projects/{project}/fossil", "");
  return {
    method,
    path,
    about: declared.summary,
    takes: fieldsOf(declared),
    who: whoMay(declared),
  };
}

/** The fields of the query or the body, those that may be absent with a question mark. */
function fieldsOf({ http, input, bodyField }: HttpDeclaration): string {
  const whole = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const root = followed(whole, whole);
  const schema = bodyField === undefined ? root : followed(root.properties?.[bodyField], whole);
  const required = new Set(schema.required);
  return Object.keys(schema.properties ?? {}).filter((field) => !http.includes(`{${field}}`))
    .map((field) => `\`${field}\`${required.has(field) ? "" : "?"}`).join(", ");
}

interface Schema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The schema that a reference names. */
function followed(schema: unknown, root: { readonly $defs?: unknown }): Schema {
  const { $ref: reference, ...own } = (schema ?? {}) as Schema;
  if (reference === undefined) return own;
  const name = reference.slice(reference.lastIndexOf("/") + 1);
  return (root.$defs as Readonly<Record<string, Schema>>)[name] ?? {};
}

function whoMay({ on, needs, callers }: HttpDeclaration): string {
  if (on !== undefined) return CALLERS[on];
  return callers === "accounts" ? `${needs}, with an account` : `${needs}`;
}

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ method, path, about, takes, who }) =>
    `| \`${method} ${path}\` | ${about.replaceAll("|", "\\|")} | ${takes} | ${who} |`
  );
  return ["| endpoint | what it does | takes | who may |", "| --- | --- | --- | --- |", ...lines]
    .join("\n");
}

async function pagesBelow(folder: string): Promise<string[]> {
  const place = new URL(`../${folder}`, import.meta.url);
  const found = (await Array.fromAsync(Deno.readDir(place))).map(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? pagesBelow(path) : path.endsWith(".md") ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

if (import.meta.main) {
  for (const [path, text] of await endpointPages()) {
    await Deno.writeTextFile(new URL(`../${path}`, import.meta.url), text);
  }
}
