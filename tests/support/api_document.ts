/** The parts of an OpenAPI document that tests read. */

/** The used parts of a JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly example?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}

export type Contents = Readonly<Record<string, Content>>;

export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Contents };
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: Contents; readonly headers?: Readonly<Record<string, unknown>> }
    >
  >;
}

/** An operation with its method and path. */
export interface Endpoint extends Operation {
  readonly method: string;
  readonly path: string;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Reads the document of a server. */
export async function readDocument(api: string): Promise<Document> {
  const response = await fetch(`${api}/openapi.json`);
  return await response.json();
}

/** Every operation of a document. */
export function endpointsOf(document: Document): readonly Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    }))
  );
}

/** Whether an endpoint belongs to hosting: projects, their search, their repositories and webhooks. */
export function isHosting({ path }: Endpoint): boolean {
  return /^\/(?:projects|search|v1\/projects|v1\/webhooks)(?:\/|$)/.test(path);
}

/** A path with values for its parameters, in order, and `nobody` for the rest. */
export function fillPath(path: Endpoint["path"], values: readonly string[] = []): string {
  const rest = values.values();
  return path.replaceAll(/\{\w+\}/g, () => rest.next().value ?? "nobody");
}
