import type { Context, TypedResponse } from "hono";
import { writeArray } from "../services/kernel/pieces.ts";

/** Answers 200 with serialised JSON. The handler guarantees its type. */
export function jsonText<Value>(context: Context, text: string): TypedResponse<Value, 200, "json"> {
  const headers = { "Content-Type": "application/json" };
  return context.body(text, 200, headers) as unknown as TypedResponse<Value, 200, "json">;
}

/**
 * Answers 200 with a JSON array of many items, which other requests need not wait for.
 *
 * @param view what is shown of an item; all of it by default
 */
export function jsonArray<Item>(
  context: Context,
  items: readonly Item[],
): Promise<TypedResponse<Item[], 200, "json">>;
export function jsonArray<Item, Shown>(
  context: Context,
  items: readonly Item[],
  view: (item: Item) => Shown,
): Promise<TypedResponse<Shown[], 200, "json">>;
export async function jsonArray<Item>(
  context: Context,
  items: readonly Item[],
  view: (item: Item) => unknown = (item) => item,
): Promise<TypedResponse<unknown[], 200, "json">> {
  return jsonText(context, await writeArray(items, (item) => JSON.stringify(view(item))));
}

/** Answers 200 with serialised JSON, for a route that answers directly. */
export function textAnswer(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}
