/**
 * A plugin of `deno lint` for the rules of the layout (CONTRIBUTING.md): only some folders import
 * SQLite, arrows point down, each part of services/ has one door, and pages take only types from
 * routes/.
 */
import { relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname ?? ".", "../..");

/** Folders whose modules may import `node:sqlite`. */
const SQLITE_FOLDERS = [
  "services/engines/database/",
  "services/chat/irc_server/history/",
  "services/engines/fossil/",
  "services/operation/backup/",
  "services/operation/doctor/",
];

/** Folders whose modules may not import it. Tests, scripts and the bench may. */
const BOUND_FOLDERS = ["services/", "routes/", "mcp/", "cli/", "http/", "web/"];

/** The folders above services/. */
const ABOVE_SERVICES = ["routes/", "mcp/", "cli/", "http/", "web/", "runner/"];

/** Folders whose modules may take only types from routes/; see `pages`. */
const PAGE_FOLDERS = ["web/pages/", "web/parts/"];

/** @param isType whether nothing but types is imported, so that the import leaves no trace */
type Check = (importer: string, specifier: string, isType: boolean) => string | null;

/** A rule about every import and re-export of a module. */
function importRule(check: Check): Deno.lint.Rule {
  return {
    create(context) {
      const importer = relative(ROOT, resolve(ROOT, context.filename));
      const visit = (source: Deno.lint.Node | null | undefined, kind: "type" | "value") => {
        if (source?.type !== "Literal" || typeof source.value !== "string") return;
        const message = check(importer, source.value, kind === "type");
        if (message !== null) context.report({ node: source, message });
      };
      return {
        ImportDeclaration: ({ source, importKind }) => visit(source, importKind),
        ImportExpression: ({ source }) => visit(source, "value"),
        ExportNamedDeclaration: ({ source, exportKind }) => visit(source, exportKind),
        ExportAllDeclaration: ({ source, exportKind }) => visit(source, exportKind),
      };
    },
  };
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(folder));
}

/** The module that a relative import names, from the root of the tree; null for a package. */
function target(importer: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  return relative(ROOT, resolve(ROOT, importer, "..", specifier));
}

/** `services/work/x/…` gives `services/work/x/`; null for a file directly in services/work/. */
function folderOf(path: string): string | null {
  return /^services\/[^/]+\/[^/]+\//.exec(path)?.[0] ?? null;
}

const sqlite: Check = (importer, specifier) => {
  if (specifier !== "node:sqlite") return null;
  if (!isIn(importer, BOUND_FOLDERS) || isIn(importer, SQLITE_FOLDERS)) return null;
  return `Only ${SQLITE_FOLDERS.join(", ")} may import node:sqlite: read through Database.tables`;
};

/** What a runner may know of the server; it is another program, often on another machine. */
const RUNNER_USES = [
  "services/kernel/",
  "services/work/definitions/",
  "services/work/runs/assignment.ts",
];

const runnerApart: Check = (importer, specifier) => {
  const module = target(importer, specifier);
  if (module === null || !importer.startsWith("runner/") || module.startsWith("runner/")) {
    return null;
  }
  if (isIn(module, RUNNER_USES)) return null;
  return `runner/ is a program of its own and may not import ${module}`;
};

const downward: Check = (importer, specifier) => {
  const module = target(importer, specifier);
  if (module === null || !importer.startsWith("services/") || !isIn(module, ABOVE_SERVICES)) {
    return null;
  }
  return `services/ may not import ${module}: arrows point down`;
};

/**
 * A folder has a door, `mod.ts`, and doors that load the library of schemas: `schemas.ts`, and
 * `operations.ts` with its operations, whose name may say more. A worker loads only what runs there,
 * so its module imports past all of them. A file that is in no folder of its own, as most of the
 * kernel, is a door.
 */
const door: Check = (importer, specifier) => {
  if (importer.endsWith("_worker.ts")) return null;
  const module = target(importer, specifier);
  const folder = module === null ? null : folderOf(module);
  if (module === null || folder === null || !isIn(importer, BOUND_FOLDERS)) return null;
  if (importer.startsWith(folder) || /\/(mod|schemas|(\w+_)?operations?)\.ts$/.test(module)) {
    return null;
  }
  return `Import ${folder}mod.ts, its schemas.ts or operations.ts: ${module} is behind them`;
};

/** See `routes/extended_zod.ts`. */
const extended: Check = (importer, specifier, isType) => {
  if (isType || specifier !== "@hono/zod-openapi") return null;
  const may = ["routes/extended_zod.ts", "routes/api_routes.ts", "routes/route.ts"];
  if (!isIn(importer, BOUND_FOLDERS) || may.includes(importer)) return null;
  return 'Import "z" from routes/extended_zod.ts, and types with "import type"';
};

/**
 * A page is loaded when somebody first opens it, so a bundle could load the schemas of routes/ through
 * it before the library of schemas is extended (`routes/extended_zod.ts`).
 */
const pages: Check = (importer, specifier, isType) => {
  const module = target(importer, specifier);
  if (isType || module === null || !isIn(importer, PAGE_FOLDERS)) return null;
  if (!module.startsWith("routes/")) return null;
  return `Import only types from ${module}: pages call operations through the visit`;
};

/** What may run an operation: that it is authorized and its input is valid, the edges alone ensure. */
const EDGES = [
  /^routes\/((projects\/)?operations|operation_requests)\.ts$/,
  /^services\/(people\/identity|work\/projects)\/\w*operation\.ts$/,
];

/** Reports calls of `perform` elsewhere, which would skip the rights of an operation. */
const edge: Deno.lint.Rule = {
  create(context) {
    const path = relative(ROOT, resolve(ROOT, context.filename));
    const mayCall = isIn(path, ABOVE_SERVICES) || /operations\.ts$/.test(path);
    if (!mayCall || EDGES.some((pattern) => pattern.test(path))) return {};
    return {
      'CallExpression > MemberExpression[property.name="perform"]'(node: Deno.lint.Node) {
        context.report({ node, message: "Call an operation with invoke, which checks its rights" });
      },
    };
  },
};

/** Second ways to declare or call a use case, which there were once. */
const SECOND_WAYS: ReadonlySet<string> = new Set([
  "DirectRequests",
  "InnerCalls",
  "ProjectCalls",
  "defineTool",
  "projectRoute",
  "projectTool",
  "route",
]);

/** Reports functions and classes with the name of a second way. */
const oneWay: Deno.lint.Rule = {
  create(context) {
    const check = ({ id }: Deno.lint.FunctionDeclaration | Deno.lint.ClassDeclaration) => {
      if (id === null || !SECOND_WAYS.has(id.name)) return;
      context.report({ node: id, message: "Declare an operation, a specialRoute or a tool" });
    };
    return { FunctionDeclaration: check, ClassDeclaration: check };
  },
};

/** The plugin, for `deno.json`. */
const plugin: Deno.lint.Plugin = {
  name: "boundaries",
  rules: {
    "sqlite": importRule(sqlite),
    "downward": importRule(downward),
    "runner-apart": importRule(runnerApart),
    "door": importRule(door),
    "extended": importRule(extended),
    "pages": importRule(pages),
    "edge": edge,
    "one-way": oneWay,
  },
};

export default plugin;
