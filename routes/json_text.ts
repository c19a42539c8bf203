import type { Context, TypedResponse } from "hono";

/** Answers 200 with JSON that is a text already. Its handler vouches for the type. */
export function jsonText<Value>(context: Context, text: string): TypedResponse<Value, 200, "json"> {
  const headers = { "Content-Type": "application/json" };
  return context.body(text, 200, headers) as unknown as TypedResponse<Value, 200, "json">;
}

/** The JSON texts of items that never change. Each is made once, however often it is listed. */
export class JsonTexts<Item extends object> {
  readonly #texts = new WeakMap<Item, string>();

  /** Returns the JSON array of the items. */
  list(items: readonly Item[]): string {
    return `[${items.map((item) => this.#of(item)).join(",")}]`;
  }

  #of(item: Item): string {
    let text = this.#texts.get(item);
    if (text === undefined) {
      text = JSON.stringify(item);
      this.#texts.set(item, text);
    }
    return text;
  }
}
