import assert from "node:assert/strict";
import { z } from "zod";
import type { Contents, Document, Endpoint, Schema } from "./api_document.ts";

/** The allowed statuses of the 5xx class, if documented. */
const ALLOWED_FAILURES: ReadonlySet<number> = new Set([502, 503, 504]);

/** The fields of every error; the document lists further ones. */
const usualError = z.looseObject({
  error: z.union([
    z.string().min(1),
    // Below /v1/llm/openai.
    z.strictObject({
      message: z.string().min(1),
      type: z.string().min(1),
      code: z.string().nullable(),
    }),
  ]),
});

/** Below /v1/llm/anthropic. */
const anthropicError = z.strictObject({
  type: z.literal("error"),
  error: z.strictObject({ type: z.string().min(1), message: z.string().min(1) }),
});

const connectError = z.strictObject({ code: z.string(), message: z.string() });

const errorSchema = z.union([usualError, anthropicError, connectError]);
const strayErrorSchema = z.union([usualError.strict(), anthropicError]);

/** Compares answers with a document. */
export class DocumentedAnswers {
  readonly #document: Document;
  readonly #secrets: readonly string[];
  readonly #schemas = new Map<string, z.ZodType>();

  /** @param secrets texts that no answer may contain */
  constructor(document: Document, secrets: readonly string[]) {
    this.#document = document;
    this.#secrets = secrets;
  }

  /**
   * Reads an answer to its end, or its first part if it has none.
   *
   * @param endpoint the called endpoint; null if the document has no such endpoint
   * @throws AssertionError if it is not as documented
   */
  async check(endpoint: Endpoint | null, method: string, response: Response): Promise<void> {
    const { status } = response;
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    const text = type === "text/event-stream" ? await firstPart(response) : await response.text();
    assert.ok(this.#secrets.every((secret) => !text.includes(secret)), `a secret: ${text}`);
    assert.match(response.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
    if (endpoint === null && type === "text/html") return checkPage(response, text);
    if (endpoint === null) return checkStray(method, status, text);
    const documented = endpoint.responses[status];
    assert.ok(documented !== undefined, `the status ${status} is not documented: ${text}`);
    assert.ok(status < 500 || ALLOWED_FAILURES.has(status), `${status}: ${text}`);
    const hasOwnForm = type !== "application/json" && documented.content?.[type] !== undefined;
    if (status >= 400 && !hasOwnForm) errorSchema.parse(JSON.parse(text));
    if (documented.content === undefined) return assert.equal(text, "");
    const types = documented.content;
    assert.ok("*/*" in types || type in types, `the type ${type} is not documented`);
    if (type !== "application/json") return;
    const name = `${endpoint.method} ${endpoint.path} ${status}`;
    const answer = JSON.parse(text);
    const result = this.#schemaOf(name, documented.content).safeParse(answer);
    assert.ok(result.success, `${text}\n${result.error}`);
    if (status >= 400) this.#checkFields(answer, types["application/json"]?.schema ?? {});
  }

  /** An error has only fields that the document names. */
  #checkFields(answer: object, schema: Schema): void {
    const names = this.#fieldsOf(schema);
    const unknown = Object.keys(answer).filter((name) => !names.includes(name));
    assert.deepEqual(unknown, [], "an error has undocumented fields");
  }

  #fieldsOf({ $ref, allOf = [], properties = {} }: Schema): string[] {
    const named = this.#document.components.schemas[$ref?.split("/").at(-1) ?? ""] ?? {};
    const parts = $ref === undefined ? allOf : [named, ...allOf];
    return [...Object.keys(properties), ...parts.flatMap((part) => this.#fieldsOf(part))];
  }

  #schemaOf(name: string, content: Contents): z.ZodType {
    let schema = this.#schemas.get(name);
    if (schema === undefined) {
      const whole = {
        ...content["application/json"]?.schema,
        $defs: this.#document.components.schemas,
      };
      // The validator looks for definitions in the schema itself.
      const own = JSON.stringify(whole).replaceAll("#/components/schemas/", "#/$defs/");
      schema = z.fromJSONSchema(JSON.parse(own));
      this.#schemas.set(name, schema);
    }
    return schema;
  }
}

/** A page, or why there is none. No page is below the API. */
function checkPage({ status, url }: Response, text: string): void {
  assert.ok(status < 500 || ALLOWED_FAILURES.has(status), `${status}: ${text}`);
  assert.match(text, /^<!DOCTYPE html>/);
  assert.doesNotMatch(new URL(url).pathname, /^\/v1(\/|$)/);
}

/** A request outside of the document gets an error, unless its target happens to exist. */
function checkStray(method: string, status: number, text: string): void {
  assert.ok(status < 500 || ALLOWED_FAILURES.has(status), `${status}: ${text}`);
  if (status >= 400 && method !== "HEAD") strayErrorSchema.parse(JSON.parse(text));
}

/** A stream is open when its headers have arrived; its content is not waited for. */
async function firstPart(response: Response): Promise<string> {
  await response.body?.cancel();
  return "";
}
