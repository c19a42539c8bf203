import { z } from "zod";
import { Invalid } from "../../../kernel/errors.ts";
import { describeIssue } from "../../../kernel/validation/mod.ts";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import { listOf } from "../lists.ts";
import type { TokenUsage } from "../report.ts";
import type { ModelCall } from "./format.ts";
import type { SaidPart, Step } from "./said_parts.ts";
import {
  type AnswerWriter,
  effortFor,
  type Ended,
  given,
  limitFor,
  SEAL,
  sealed,
  type Translation,
  type TypedEvent,
  unsealed,
} from "./translation.ts";

/** OpenAI's Responses API in terms of the common format. */
export const responsesTranslation = Object.freeze<Translation>({
  requestOf,
  newWriter: ({ request }) => new ResponseWriter(request),
});

const item = z.looseObject({ type: z.string().optional() });
type Item = z.infer<typeof item>;

const requestSchema = z.looseObject({
  instructions: z.string().nullish(),
  input: z.union([z.string(), listOf(item)]),
  tools: listOf(item).nullish(),
  previous_response_id: z.null({
    error: "is not taken: this backend keeps no responses, so send the whole conversation",
  }).optional(),
  conversation: z.null({
    error: "is not taken: this backend keeps no conversations, so send all of it",
  }).optional(),
  background: z.literal(false, { error: "must be false" }).nullish(),
});

function requestOf({ request, endpoint: { provider } }: ModelCall): JsonObject {
  const { data, error } = requestSchema.safeParse(request);
  if (error !== undefined) {
    const [issue] = error.issues;
    throw new Invalid(issue === undefined ? "The request is not valid" : describeIssue(issue));
  }
  const { instructions, input } = data;
  const tools = toolsOf(request);
  const { reasoning } = request;
  return {
    model: request["model"],
    messages: [
      ...instructions ? [{ role: "system", content: instructions }] : [],
      ...typeof input === "string" ? [{ role: "user", content: input }] : messagesOf(input),
    ],
    ...limitFor(provider, request["max_output_tokens"]),
    ...given({
      stream: request["stream"],
      temperature: request["temperature"],
      top_p: request["top_p"],
      tools: tools.size === 0 ? undefined : Array.from(tools, functionOf),
      tool_choice: tools.size === 0 ? undefined : toolChoiceOf(request["tool_choice"], tools),
      reasoning_effort: effortFor(
        provider,
        request["model"],
        isObject(reasoning) ? reasoning["effort"] : undefined,
      ),
      response_format: responseFormatOf(request["text"]),
    }),
  };
}

/** A tool of a request, by the name that it has in the common format. */
interface Tool {
  readonly kind: "function" | "custom";
  readonly name: string;
  /** Null if it is in none. */
  readonly namespace: string | null;
  readonly declared: JsonObject;
}

type Tools = ReadonlyMap<string, Tool>;

/** The tools that a client runs; those of the provider itself are left out. */
function toolsOf({ tools }: JsonObject): Tools {
  const found = new Map<string, Tool>();
  const add = (list: unknown, namespace: string | null) => {
    for (const declared of Array.isArray(list) ? list.filter(isObject) : []) {
      const { type, name } = declared;
      if (type === "namespace" && namespace === null && typeof name === "string") {
        add(declared["tools"], name);
      } else if ((type === "function" || type === "custom") && typeof name === "string") {
        found.set(chatName(name, namespace), { kind: type, name, namespace, declared });
      }
    }
  };
  add(tools, null);
  return found;
}

function chatName(name: unknown, namespace: unknown): string {
  return typeof namespace === "string" ? `${namespace}__${name}` : String(name);
}

/** A tool that takes a text takes it as its only argument. */
function functionOf([name, { kind, declared }]: readonly [string, Tool]): JsonObject {
  const { description, parameters, strict, format } = declared;
  if (kind === "function") {
    return { type: "function", function: { name, ...given({ description, parameters, strict }) } };
  }
  const { definition } = isObject(format) ? format : {};
  const told = [description, definition].filter((text) => typeof text === "string").join("\n\n");
  return {
    type: "function",
    function: {
      name,
      description: told,
      parameters: {
        type: "object",
        properties: { input: { type: "string" } },
        required: ["input"],
        additionalProperties: false,
      },
    },
  };
}

function toolChoiceOf(choice: unknown, tools: Tools): unknown {
  if (choice === "none" || choice === "required") return choice;
  if (!isObject(choice)) return undefined;
  const name = chatName(choice["name"], choice["namespace"]);
  return tools.has(name) ? { type: "function", function: { name } } : undefined;
}

function responseFormatOf(text: unknown): JsonObject | undefined {
  const { format } = isObject(text) ? text : {};
  if (!isObject(format)) return undefined;
  switch (format["type"]) {
    case "json_object":
      return { type: "json_object" };
    case "json_schema": {
      const { name, description, schema, strict } = format;
      return { type: "json_schema", json_schema: given({ name, description, schema, strict }) };
    }
    default:
      return undefined;
  }
}

function messagesOf(items: readonly Item[]): JsonObject[] {
  const conversation = new Conversation(
    unsealed(items.map(({ encrypted_content: text }) => text)),
  );
  for (const one of items) conversation.add(one);
  return conversation.end();
}

/** Items as messages of the common format, where all calls of one turn are in one message. */
class Conversation {
  readonly #messages: JsonObject[] = [];
  /** What providers need back with results, by the ids of the calls. */
  readonly #extras: ReadonlyMap<string, JsonObject>;
  /** The turn of the model that goes on. */
  #turn: { thought: string; content: string; readonly calls: JsonObject[] } | null = null;
  /** Images and files in results of tools, which stand behind all results. */
  #shown: JsonObject[] = [];
  #hasUser = false;

  constructor(extras: ReadonlyMap<string, JsonObject>) {
    this.#extras = extras;
  }

  /** What the provider's own tools did, and others' sealed thoughts, mean nothing elsewhere. */
  add(one: Item): void {
    const { type = "message", role, content } = one;
    switch (type) {
      case "message":
        if (role === "assistant") this.#ownTurn().content += textOf(content);
        else this.#say(role, content);
        break;
      case "reasoning":
        if (one["encrypted_content"] === SEAL) this.#ownTurn().thought += textOf(one["summary"]);
        break;
      case "function_call":
        this.#call(one, one["arguments"]);
        break;
      case "custom_tool_call":
        this.#call(one, JSON.stringify({ input: one["input"] }));
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        this.#result(one);
        break;
      case "item_reference":
        throw new Invalid('"input": this backend keeps no items, so send them whole');
    }
  }

  end(): JsonObject[] {
    this.#flush();
    return this.#messages;
  }

  /** Many providers take texts of the system at the beginning alone. */
  #say(role: unknown, content: unknown): void {
    this.#flush();
    if (role !== "user" && !this.#hasUser) {
      this.#messages.push({ role: "system", content: textOf(content) });
      return;
    }
    this.#hasUser = true;
    this.#messages.push({ role: "user", content: partsOf(content) });
  }

  #call({ call_id: id, name, namespace }: Item, text: unknown): void {
    this.#ownTurn().calls.push({
      id,
      type: "function",
      function: { name: chatName(name, namespace), arguments: text },
      ...given({ extra_content: this.#extras.get(String(id)) }),
    });
  }

  #result({ call_id: id, output }: Item): void {
    this.#endTurn();
    this.#messages.push({ role: "tool", tool_call_id: id, content: textOf(output) });
    if (!Array.isArray(output)) return;
    const shown = output.filter((part) => isObject(part) && typeof part["text"] !== "string");
    for (const part of partsOf(shown)) this.#shown.push(part);
  }

  #ownTurn() {
    if (this.#turn === null) this.#flush();
    return this.#turn ??= { thought: "", content: "", calls: [] };
  }

  #endTurn(): void {
    if (this.#turn === null) return;
    const { thought, content, calls } = this.#turn;
    this.#turn = null;
    if (content === "" && calls.length === 0) return;
    this.#messages.push({
      role: "assistant",
      content: content === "" ? null : content,
      ...thought === "" ? {} : { reasoning_content: thought },
      ...calls.length === 0 ? {} : { tool_calls: calls },
    });
  }

  #flush(): void {
    this.#endTurn();
    if (this.#shown.length > 0) this.#messages.push({ role: "user", content: this.#shown });
    this.#shown = [];
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter(isObject).map(({ text, refusal }) => text ?? refusal)
    .filter((text) => typeof text === "string").join("");
}

function partsOf(content: unknown): JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject).map(partOf) : [];
}

function partOf({ type, text, image_url: url, input_audio, ...part }: JsonObject): JsonObject {
  switch (type) {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text };
    case "input_image":
      if (typeof url === "string") return { type: "image_url", image_url: { url } };
      break;
    case "input_audio":
      return { type, input_audio };
    case "input_file": {
      const { file_data, filename } = part;
      if (typeof file_data === "string") {
        return { type: "file", file: { file_data, ...given({ filename }) } };
      }
      break;
    }
  }
  throw new Invalid(`"input": this backend cannot take this part of the type "${type}"`);
}

/** Writes a response, or its events. */
class ResponseWriter implements AnswerWriter {
  readonly #request: JsonObject;
  readonly #tools: Tools;
  readonly #id = newId("resp");
  readonly #createdAt = Math.floor(Date.now() / 1000);
  readonly #output: JsonObject[] = [];
  /** The id of the item that is open. */
  #item = "";
  #sequence = 0;

  constructor(request: JsonObject) {
    this.#request = request;
    this.#tools = toolsOf(request);
  }

  start(model: string): TypedEvent[] {
    const response = this.#response(model, "in_progress");
    return this.#numbered([
      { type: "response.created", response },
      { type: "response.in_progress", response },
    ]);
  }

  step(step: Step): TypedEvent[] {
    return this.#numbered(this.#eventsOf(step));
  }

  end(ended: Ended): TypedEvent[] {
    const { type, response } = this.#ended(ended);
    return this.#numbered([{ type, response }]);
  }

  whole(ended: Ended): JsonObject {
    for (const part of ended.parts) {
      this.step({ type: "begin", part });
      this.step({ type: "end", part });
    }
    return this.#ended(ended).response;
  }

  #eventsOf(step: Step): TypedEvent[] {
    const { type, part } = step;
    switch (type) {
      case "begin":
        return [...part.extra === null ? [] : this.#seal(part), ...this.#begin(part)];
      case "more":
        return this.#more(part, step.text);
      case "end":
        return this.#end(part);
    }
  }

  #begin(part: SaidPart): TypedEvent[] {
    this.#item = newId(part.kind === "reasoning" ? "rs" : part.kind === "text" ? "msg" : "fc");
    const added = this.#of("response.output_item.added", {
      item: this.#itemOf(part, "in_progress"),
    });
    switch (part.kind) {
      case "text":
        return [
          added,
          this.#inItem("response.content_part.added", {
            content_index: 0,
            part: outputText(""),
          }),
        ];
      case "reasoning":
        return [
          added,
          this.#inItem("response.reasoning_summary_part.added", {
            summary_index: 0,
            part: { type: "summary_text", text: "" },
          }),
        ];
      case "call":
        return [added];
    }
  }

  #more({ kind, name }: SaidPart, delta: string): TypedEvent[] {
    switch (kind) {
      case "text":
        return [
          this.#inItem("response.output_text.delta", { content_index: 0, delta, logprobs: [] }),
        ];
      case "reasoning":
        return [
          this.#inItem("response.reasoning_summary_text.delta", { summary_index: 0, delta }),
        ];
      case "call":
        // The text of a custom tool is inside of what comes.
        return this.#isCustom(name)
          ? []
          : [this.#inItem("response.function_call_arguments.delta", { delta })];
    }
  }

  #end(part: SaidPart): TypedEvent[] {
    const { kind, text, name } = part;
    const item = this.#itemOf(part, "completed");
    const events: TypedEvent[] = [];
    switch (kind) {
      case "text":
        events.push(
          this.#inItem("response.output_text.done", { content_index: 0, text, logprobs: [] }),
          this.#inItem("response.content_part.done", { content_index: 0, part: outputText(text) }),
        );
        break;
      case "reasoning":
        events.push(
          this.#inItem("response.reasoning_summary_text.done", { summary_index: 0, text }),
          this.#inItem("response.reasoning_summary_part.done", {
            summary_index: 0,
            part: { type: "summary_text", text },
          }),
        );
        break;
      case "call":
        if (this.#isCustom(name)) {
          const { input } = item;
          events.push(
            this.#inItem("response.custom_tool_call_input.delta", { delta: input }),
            this.#inItem("response.custom_tool_call_input.done", { input }),
          );
        } else {
          events.push(
            this.#inItem("response.function_call_arguments.done", {
              name: item["name"],
              arguments: text,
            }),
          );
        }
    }
    events.push(this.#of("response.output_item.done", { item }));
    this.#output.push(item);
    return events;
  }

  /** An item that clients send back as it is. */
  #seal({ id, extra }: SaidPart): TypedEvent[] {
    const item = {
      id: newId("rs"),
      type: "reasoning",
      summary: [],
      encrypted_content: sealed({ [id]: extra ?? {} }),
    };
    const events = [
      this.#of("response.output_item.added", { item }),
      this.#of("response.output_item.done", { item }),
    ];
    this.#output.push(item);
    return events;
  }

  #itemOf({ kind, text, id, name }: SaidPart, status: "in_progress" | "completed"): JsonObject {
    const isWhole = status === "completed";
    switch (kind) {
      case "text":
        return {
          id: this.#item,
          type: "message",
          status,
          role: "assistant",
          content: isWhole ? [outputText(text)] : [],
        };
      case "reasoning":
        return {
          id: this.#item,
          type: "reasoning",
          summary: isWhole ? [{ type: "summary_text", text }] : [],
          ...isWhole ? { encrypted_content: SEAL } : {},
        };
      case "call": {
        const tool = this.#tools.get(name);
        const named = given({ name: tool?.name ?? name, namespace: tool?.namespace });
        const head = { id: this.#item, status, call_id: id, ...named };
        if (tool?.kind !== "custom") {
          return { ...head, type: "function_call", arguments: isWhole ? text : "" };
        }
        return { ...head, type: "custom_tool_call", input: isWhole ? inputOf(text) : "" };
      }
    }
  }

  #isCustom(name: string): boolean {
    return this.#tools.get(name)?.kind === "custom";
  }

  #ended({ finishReason, model, usage }: Ended) {
    const reason = finishReason === "length"
      ? "max_output_tokens"
      : finishReason === "content_filter"
      ? "content_filter"
      : null;
    const status = reason === null ? "completed" : "incomplete";
    const response = {
      ...this.#response(model, status),
      incomplete_details: reason === null ? null : { reason },
      output: this.#output,
      usage: usageOf(usage),
    };
    return { type: `response.${status}`, response };
  }

  #response(model: string, status: string): JsonObject {
    const { instructions = null, tools = [], tool_choice = "auto", text, metadata } = this.#request;
    return {
      id: this.#id,
      object: "response",
      created_at: this.#createdAt,
      status,
      error: null,
      incomplete_details: null,
      instructions,
      model,
      output: [],
      parallel_tool_calls: this.#request["parallel_tool_calls"] ?? true,
      previous_response_id: null,
      store: false,
      text: text ?? { format: { type: "text" } },
      tool_choice,
      tools,
      metadata: metadata ?? {},
      usage: null,
    };
  }

  #of(type: string, fields: JsonObject): TypedEvent {
    return { type, output_index: this.#output.length, ...fields };
  }

  #inItem(type: string, fields: JsonObject): TypedEvent {
    return this.#of(type, { item_id: this.#item, ...fields });
  }

  #numbered(events: readonly TypedEvent[]): TypedEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.#sequence++ }));
  }
}

function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}

function outputText(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** The text of a custom tool, in its only argument; a model may write the text alone. */
function inputOf(text: string): string {
  const value = parseJson(text);
  return isObject(value) && typeof value["input"] === "string" ? value["input"] : text;
}

function usageOf({ prompt, completion, cached, written }: TokenUsage): JsonObject {
  return {
    input_tokens: prompt ?? 0,
    input_tokens_details: { cached_tokens: cached ?? 0, cache_write_tokens: written ?? 0 },
    output_tokens: completion ?? 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: (prompt ?? 0) + (completion ?? 0),
  };
}
