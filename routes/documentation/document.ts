import type { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "../../services/kernel/version.ts";
import type { AppEnv } from "../environment.ts";
import { refusesUnknownFields } from "../request_schemas.ts";
import { DESCRIPTIONS } from "../schemas.ts";
import { publishPatterns, showLengths } from "../../services/kernel/validation/schemas.ts";
import { groupOf, GROUPS } from "./groups.ts";
import { SECURITY_SCHEMES } from "./security.ts";

export type OpenApiDocument = ReturnType<OpenAPIHono<AppEnv>["getOpenAPI31Document"]>;

type Operation = NonNullable<NonNullable<OpenApiDocument["paths"]>[string]["get"]>;

/** The methods of operations, in reading order. */
export const OPERATION_METHODS = ["get", "post", "put", "patch", "delete"] as const;

export type OperationMethod = (typeof OPERATION_METHODS)[number];

/** An operation of the document, and its path. */
export interface PlacedOperation {
  readonly path: string;
  readonly method: OperationMethod;
  readonly operation: Operation;
}

/** The middleware's answers before an endpoint below `/v1/`. */
const BEFORE_EVERY_ENDPOINT = [401, 429, 500, 503] as const;

const DESCRIPTION = "The coordination service of muster: agents and their IRC accounts, channels " +
  "over HTTP, and what runs the whole.";

/**
 * The API as a document of OpenAPI 3.1, from the schemas that validate its requests.
 *
 * @param app with every route that it will have
 */
export function describeApi(app: OpenAPIHono<AppEnv>): OpenApiDocument {
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "muster",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
    },
    servers: [{ url: "/" }],
    tags: [],
  });
  const operations = operationsOf(document);
  for (const placed of operations) {
    complete(placed);
    if (refusesUnknownFields(placed.path)) closeBody(document, placed);
    showRequestLengths(document, placed);
  }
  const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []));
  document.tags = GROUPS.filter(({ name }) => used.has(name))
    .map(({ name, description }) => ({ name, description }));
  document.components = {
    ...document.components,
    securitySchemes: schemesOf(operations),
  };
  publish(document);
  return document;
}

/** Documents how long the parameters and the fields of an operation's body may be. */
function showRequestLengths(document: OpenApiDocument, { operation }: PlacedOperation): void {
  const { requestBody, parameters = [] } = operation;
  const resolve = (reference: string) =>
    document.components?.schemas?.[reference.replace("#/components/schemas/", "")];
  for (const parameter of parameters) {
    if ("schema" in parameter && parameter.schema !== undefined) {
      showLengths(parameter.schema, resolve, parameter.name);
    }
  }
  if (requestBody === undefined || "$ref" in requestBody) return;
  for (const { schema } of Object.values(requestBody.content)) {
    if (schema !== undefined) showLengths(schema, resolve);
  }
}

/** Every operation of a document, in its order. */
export function operationsOf(document: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    OPERATION_METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    })
  );
}

/** Adds the properties of its group to an operation, so that no route repeats them. */
function complete({ path, method, operation }: PlacedOperation): void {
  const isBelowVersion = path.startsWith("/v1/");
  operation.tags ??= [groupOf(path)];
  if (path.startsWith("/projects/{slug}/")) operation.parameters = withSlug(operation.parameters);
  for (const status of isBelowVersion ? BEFORE_EVERY_ENDPOINT : [500] as const) {
    addError(operation, status);
  }
  if (method !== "get") addError(operation, 413);
}

/** The frame of the repository API resolves the slug, so no route of it names this parameter. */
function withSlug(parameters: Operation["parameters"] = []) {
  const slug = {
    name: "slug",
    in: "path",
    required: true,
    schema: { type: "string" },
    description: "The project",
  } as const;
  return [slug, ...parameters];
}

function addError(operation: Operation, status: keyof typeof DESCRIPTIONS): void {
  operation.responses ??= {};
  operation.responses[status] ??= {
    description: DESCRIPTIONS[status],
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

/** The security schemes that an operation names. */
function schemesOf(operations: readonly PlacedOperation[]) {
  const named = new Set(
    operations.flatMap(({ operation }) => (operation.security ?? []).flatMap(Object.keys)),
  );
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => named.has(name)));
}

/** A schema, or a part of the document around schemas. */
type Part = Record<string, unknown>;

/**
 * Leaves out of a document what generators of clients cannot write in their languages: patterns of
 * one engine, fields that take no value at all (`"not": {}`), and defaults that are empty objects.
 * The server refuses, or fills in, the same as before.
 *
 * @param document which it changes
 */
function publish(document: unknown): void {
  publishPatterns(document);
  simplify(document);
}

function simplify(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  if (Array.isArray(part)) return part.forEach(simplify);
  const schema = part as Part;
  if (isEmpty(schema.default)) delete schema.default;
  if (isPart(schema.properties)) {
    for (const [name, field] of Object.entries(schema.properties)) {
      if (isPart(field) && isEmpty(field.not)) delete schema.properties[name];
    }
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword !== "example" && keyword !== "default") simplify(value);
  }
}

function isEmpty(value: unknown): boolean {
  return isPart(value) && Object.keys(value).length === 0;
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What this reads of a JSON schema. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  additionalProperties?: unknown;
}

/** Documents that the JSON body of an operation has no unknown fields, at any depth. */
function closeBody(document: OpenApiDocument, { operation }: PlacedOperation): void {
  const { requestBody } = operation;
  if (requestBody === undefined || "$ref" in requestBody) return;
  const schema = requestBody.content["application/json"]?.schema;
  if (schema !== undefined) close(schema as Schema, document);
}

function close(schema: Schema, document: OpenApiDocument): void {
  const { $ref, properties, items, anyOf = [], oneOf = [] } = schema;
  if ($ref !== undefined) {
    const named = document.components?.schemas?.[$ref.replace("#/components/schemas/", "")];
    if (named !== undefined) close(named as Schema, document);
    return;
  }
  if (properties !== undefined) schema.additionalProperties ??= false;
  const parts = [...Object.values(properties ?? {}), ...anyOf, ...oneOf];
  for (const part of items === undefined ? parts : [...parts, items]) close(part, document);
}
