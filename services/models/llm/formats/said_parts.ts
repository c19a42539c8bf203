import { isObject, type JsonObject } from "../json.ts";
import { nameOf } from "../report.ts";

/** A part of an answer in the common format: what a model thinks, says or calls. */
export interface SaidPart {
  readonly kind: "reasoning" | "text" | "call";
  /** For a call, its arguments. */
  text: string;
  /** Of a call; empty for others. */
  readonly id: string;
  readonly name: string;
  /** What the provider needs back with the result of a call. */
  readonly extra: JsonObject | null;
}

/** What becomes of a part: parts come one after the other. */
export type Step =
  | { readonly type: "begin" | "end"; readonly part: SaidPart }
  | { readonly type: "more"; readonly part: SaidPart; readonly text: string };

/**
 * Puts the chunks of an answer into parts. Calls that come side by side are put behind each other:
 * the first one is told as it comes, those beside it at the end.
 */
export class SaidParts {
  /** Those that have begun. */
  readonly parts: SaidPart[] = [];
  model: string | null = null;
  finishReason: string | null = null;
  #open: { readonly part: SaidPart; readonly call: number | null } | null = null;
  /** Calls that wait for the end, by their numbers. */
  readonly #waiting = new Map<number, SaidPart>();
  readonly #ended = new Set<number>();

  /** @throws Error if a call goes on after its end */
  *take({ model, choices }: JsonObject): Generator<Step> {
    this.model = nameOf(model) ?? this.model;
    const [choice] = Array.isArray(choices) ? choices : [];
    if (!isObject(choice)) return;
    this.finishReason = nameOf(choice["finish_reason"]) ?? this.finishReason;
    const { delta } = choice;
    if (!isObject(delta)) return;
    const { reasoning_content: reasoning, content, refusal, tool_calls: calls } = delta;
    yield* this.#say("reasoning", reasoning);
    yield* this.#say("text", content);
    yield* this.#say("text", refusal);
    for (const call of Array.isArray(calls) ? calls.filter(isObject) : []) yield* this.#call(call);
  }

  /** Ends the part that is open, and tells the calls that wait. */
  *end(): Generator<Step> {
    yield* this.#close();
    for (const part of this.#waiting.values()) {
      this.parts.push(part);
      yield { type: "begin", part };
      if (part.text !== "") yield { type: "more", part, text: part.text };
      yield { type: "end", part };
    }
    this.#waiting.clear();
  }

  *#say(kind: "reasoning" | "text", text: unknown): Generator<Step> {
    if (typeof text !== "string" || text === "") return;
    if (this.#open?.part.kind !== kind) {
      yield* this.#close();
      yield* this.#begin({ kind, text: "", id: "", name: "", extra: null }, null);
    }
    yield* this.#more(text);
  }

  *#call({ index, id, function: called, extra_content: extra }: JsonObject): Generator<Step> {
    const number = typeof index === "number" ? index : 0;
    const { name, arguments: told } = isObject(called) ? called : {};
    const text = typeof told === "string" ? told : "";
    if (this.#open?.call === number) return yield* this.#more(text);
    const waiting = this.#waiting.get(number);
    if (waiting !== undefined) {
      waiting.text += text;
      return;
    }
    if (this.#ended.has(number)) throw new Error("A call of a tool went on after its end");
    const part: SaidPart = {
      kind: "call",
      text: "",
      id: nameOf(id) ?? `call_${crypto.randomUUID().replaceAll("-", "")}`,
      name: nameOf(name) ?? "",
      extra: isObject(extra) ? extra : null,
    };
    if (this.#open?.part.kind === "call") {
      part.text = text;
      this.#waiting.set(number, part);
      return;
    }
    yield* this.#close();
    yield* this.#begin(part, number);
    yield* this.#more(text);
  }

  *#begin(part: SaidPart, call: number | null): Generator<Step> {
    this.#open = { part, call };
    this.parts.push(part);
    yield { type: "begin", part };
  }

  *#more(text: string): Generator<Step> {
    if (this.#open === null || text === "") return;
    const { part } = this.#open;
    part.text += text;
    yield { type: "more", part, text };
  }

  *#close(): Generator<Step> {
    if (this.#open === null) return;
    const { part, call } = this.#open;
    this.#open = null;
    if (call !== null) this.#ended.add(call);
    yield { type: "end", part };
  }
}
