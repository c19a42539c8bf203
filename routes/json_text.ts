import type { Context, TypedResponse } from "hono";

/** Answers 200 with JSON that is a text already. Its handler vouches for the type. */
export function jsonText<Value>(context: Context, text: string): TypedResponse<Value, 200, "json"> {
  const headers = { "Content-Type": "application/json" };
  return context.body(text, 200, headers) as unknown as TypedResponse<Value, 200, "json">;
}
