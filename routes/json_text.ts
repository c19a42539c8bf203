import type { Context, TypedResponse } from "hono";

/** Answers 200 with serialised JSON. The handler guarantees its type. */
export function jsonText<Value>(context: Context, text: string): TypedResponse<Value, 200, "json"> {
  const headers = { "Content-Type": "application/json" };
  return context.body(text, 200, headers) as unknown as TypedResponse<Value, 200, "json">;
}
