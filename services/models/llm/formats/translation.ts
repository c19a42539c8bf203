import { chunksOf } from "../chat/answer.ts";
import type { ChatApi } from "../chat/chat.ts";
import type { Provider } from "../catalog.ts";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import { NOTHING_TOLD, type TokenUsage, Told } from "../report.ts";
import { reportOf } from "./chat.ts";
import type { ModelApi, ModelCall, ServerEvent } from "./format.ts";
import { SaidParts, type Step } from "./said_parts.ts";

/** An event of a client's API, whose name is its type. */
export interface TypedEvent extends JsonObject {
  readonly type: string;
}

/** An answer of the common format that has ended. */
export interface Ended extends Pick<SaidParts, "parts" | "finishReason"> {
  readonly model: string;
  readonly usage: TokenUsage;
}

/** Writes one answer in the format of a client. */
export interface AnswerWriter {
  /** The events before the first part. */
  start(model: string): readonly TypedEvent[];
  step(step: Step): readonly TypedEvent[];
  end(ended: Ended): readonly TypedEvent[];
  /** The whole answer, instead of all events. */
  whole(ended: Ended): JsonObject;
}

/** Translates a client's format from and to the common format. */
export interface Translation {
  /** @throws Invalid if the common format cannot express the request */
  requestOf(call: ModelCall): JsonObject;
  newWriter(call: ModelCall): AnswerWriter;
}

/** Calls a provider in the common format for a client of another format. */
export function translating(
  api: ChatApi,
  { requestOf, newWriter }: Translation,
): ModelApi {
  return {
    async complete(call) {
      const completion = await api.complete({ ...call, request: requestOf(call) });
      const report = reportOf(completion);
      const said = new SaidParts();
      for (const chunk of chunksOf(completion)) for (const _ of said.take(chunk));
      for (const _ of said.end());
      const answer = newWriter(call).whole(ended(said, call, report.usage));
      return { report, text: JSON.stringify(answer) };
    },

    async *stream(call) {
      const said = new SaidParts();
      const told = new Told();
      const writer = newWriter(call);
      let isBegun = false;
      const begin = () => {
        if (isBegun) return [];
        isBegun = true;
        return writer.start(modelOf(said, call));
      };
      for await (const chunk of api.stream({ ...call, request: requestOf(call) })) {
        const report = reportOf(chunk);
        told.take(report);
        const steps = [...said.take(chunk)];
        const events = steps.length === 0
          ? []
          : [...begin(), ...steps.flatMap((step) => writer.step(step))];
        const begins = events.length > 0;
        yield { report, events: events.map(written), begins, isLast: false };
      }
      const last = [...said.end()].flatMap((step) => writer.step(step));
      const events = [...begin(), ...last, ...writer.end(ended(said, call, told.usage))];
      yield { report: NOTHING_TOLD, events: events.map(written), begins: true, isLast: true };
    },
  };
}

function ended(said: SaidParts, call: ModelCall, usage: TokenUsage): Ended {
  const { parts, finishReason } = said;
  return { parts, finishReason, model: modelOf(said, call), usage };
}

function modelOf({ model }: SaidParts, { request }: ModelCall): string {
  return model ?? String(request["model"] ?? "");
}

function written(event: TypedEvent): ServerEvent {
  return { name: event.type, data: JSON.stringify(event) };
}

/** The number of tokens of a prompt that are neither of its cache nor written to it. */
export function freshTokens({ prompt, cached, written }: TokenUsage): number {
  return Math.max(0, (prompt ?? 0) - (cached ?? 0) - (written ?? 0));
}

/**
 * What a provider needs back with the results of calls, by the ids of the calls, as a text that the
 * client keeps and sends again unread.
 */
export function sealed(extras: Readonly<Record<string, JsonObject>>): string {
  return SEAL + JSON.stringify(extras);
}

/** Reads what {@linkcode sealed} wrote in any of these; texts of somebody else say nothing. */
export function unsealed(texts: Iterable<unknown>): ReadonlyMap<string, JsonObject> {
  const extras = new Map<string, JsonObject>();
  for (const text of texts) {
    if (typeof text !== "string" || !text.startsWith(SEAL)) continue;
    const value = parseJson(text.slice(SEAL.length));
    for (const [id, extra] of Object.entries(isObject(value) ? value : {})) {
      if (isObject(extra)) extras.set(id, extra);
    }
  }
  return extras;
}

/** Begins what muster has sealed; alone, it is the seal of a model's thoughts. */
export const SEAL = "muster.";

/** How hard a model thinks, where its provider knows the option; undefined where it may refuse it. */
export function effortFor({ name }: Provider, model: unknown, effort: unknown): string | undefined {
  if (typeof effort !== "string" || !EFFORTS.has(effort)) return undefined;
  const isKnown = TAKE_EFFORT.has(name) ||
    (name === "openai" && /^(?:gpt-[5-9]|o[1-9])/.test(String(model)));
  return isKnown ? effort : undefined;
}

const TAKE_EFFORT: ReadonlySet<string> = new Set(["anthropic", "bedrock", "gemini", "openrouter"]);
const EFFORTS: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high", "xhigh"]);

/** The field by which a provider limits an answer. OpenAI's newer models take only the longer name. */
export function limitFor({ name }: Provider, limit: unknown): JsonObject {
  if (typeof limit !== "number") return {};
  return name === "openai" ? { max_completion_tokens: limit } : { max_tokens: limit };
}

/** The fields that have a value. */
export function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
