import type { Context, TypedResponse } from "hono";

/** Answers 200 with serialised JSON. The handler guarantees its type. */
export function jsonText<Value>(context: Context, text: string): TypedResponse<Value, 200, "json"> {
  const headers = { "Content-Type": "application/json" };
  return context.body(text, 200, headers) as unknown as TypedResponse<Value, 200, "json">;
}

/** Answers 200 with serialised JSON, for a route that answers directly. */
export function textAnswer(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}
