import type { OpenApiDocument, PlacedOperation } from "./document.ts";

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
export function closeBody(document: OpenApiDocument, { operation }: PlacedOperation): void {
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
