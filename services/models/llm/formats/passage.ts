import { EventSourceParserStream } from "eventsource-parser/stream";
import { opened } from "../chat/answer.ts";
import { cutShort } from "../chat/chat.ts";
import { isObject, type JsonObject, parseJson, parseObject } from "../json.ts";
import { NOTHING_TOLD, type Report } from "../report.ts";
import { ToldError } from "../told.ts";
import type { ModelApi, ModelCall } from "./format.ts";

/** The longest event of a stream, in characters: some repeat the whole answer. */
const MAX_EVENT_LENGTH = 8_388_608;

/** What an event of a stream tells of the call. */
interface EventReport {
  readonly report: Report;
  /** Whether it is the last one. */
  readonly isEnd: boolean;
}

/** An API of a provider whose requests and answers pass as they are. */
export interface PassedApi {
  /** Where a call goes, and with which headers beside its type. */
  target(call: ModelCall): {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  /** What a whole answer tells; null if it is none. */
  reportOf(answer: JsonObject): Report | null;
  /** Creates what reads the events of one stream. */
  newReader(): (event: JsonObject) => EventReport;
}

/**
 * Passes requests and answers, and reads what they tell. The client gets the text of an answer, and
 * the name and the data of each event, as the provider wrote them; errors in a stream too.
 */
export function passing(api: PassedApi): ModelApi {
  return {
    async complete(call) {
      const text = await (await post(api, call)).text();
      const answer = parseObject(text);
      if (answer["type"] === "error") throw new ToldError(answer);
      const report = api.reportOf(answer);
      if (report === null) throw new Error("The answer has another form");
      return { report, text };
    },

    async *stream(call) {
      const answer = await opened(await post(api, call));
      if (answer.kind === "whole") {
        const told = parseJson(answer.text);
        throw isObject(told) && (isObject(told["error"]) || told["type"] === "error")
          ? new ToldError(told)
          : new Error("The answer is no stream");
      }
      const events = (answer.response.body ?? new Blob().stream())
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_LENGTH }));
      const read = api.newReader();
      for await (const { event: name = null, data } of events) {
        const told = parseJson(data);
        const { report, isEnd } = isObject(told)
          ? read(told)
          : { report: NOTHING_TOLD, isEnd: false };
        yield { report, events: [{ name, data }], begins: true };
        if (isEnd) return;
      }
      throw cutShort();
    },
  };
}

function post(api: PassedApi, call: ModelCall): Promise<Response> {
  const { url, headers } = api.target(call);
  return call.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(call.request),
  });
}
