/**
 * A model that follows a script, behind the doors of Anthropic's Messages, OpenAI's Responses and
 * Chat Completions, and Gemini's API. It says what stands next in the script, and nothing else.
 */

/** What an agent program has sent. */
export interface Turn {
  /** The names of its tools, as it names them. */
  readonly tools: readonly string[];
  /** All that its user and hooks have said so far. */
  readonly said: string;
  /** What the tools have returned since the user's last words, oldest first. */
  readonly results: readonly string[];
}

/** What the model says. */
export type Reply =
  | { readonly text: string }
  | { readonly tool: string; readonly input: object };

/** Decides what the model says; undefined for what is no part of the shift, such as titles. */
export type Script = (turn: Turn) => Promise<Reply | undefined>;

/** A running model. */
export interface Model extends AsyncDisposable {
  readonly url: string;
  /** How many requests it has answered. */
  readonly requests: number;
}

/** Starts the model on a free port. */
export function startModel(script: Script): Model {
  let requests = 0;
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const door = DOORS.find(({ path }) => path.test(pathname));
    const body: unknown = request.method === "POST" ? await request.json().catch(() => null) : null;
    if (door === undefined || !isRecord(body)) return Response.json({ data: [], models: [] });
    requests++;
    const turn = door.read(body);
    const reply = await script(turn) ?? { text: "done" };
    const named = "tool" in reply ? listed(turn.tools, reply) : reply;
    const id = `${requests}`;
    const streams = body["stream"] === true || /stream/i.test(pathname);
    return streams ? events(door.stream(named, id)) : Response.json(door.whole(named, id));
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}

/** A call of a tool that the client lists, by itself or through `use_tool`. */
function listed(tools: readonly string[], call: Extract<Reply, { tool: string }>): Reply {
  const name = nameIn(tools, call.tool);
  if (name !== undefined) return { ...call, tool: name };
  const through = nameIn(tools, "use_tool");
  if (through !== undefined) {
    return { tool: through, input: { name: call.tool, arguments: call.input } };
  }
  if (tools.includes("ToolSearch")) {
    const names = [call.tool, "use_tool"].map((tool) => `mcp__muster__${tool}`);
    return { tool: "ToolSearch", input: { query: `select:${names.join(",")}` } };
  }
  if (tools.includes("tool_call")) {
    // Qwen Code lists no tool of a server, and calls each through its own.
    const through = { name: call.tool, arguments: call.input };
    return { tool: "tool_call", input: { name: "mcp__muster__use_tool", arguments: through } };
  }
  return call;
}

/** A tool under the name that the client gives it: `mcp__muster__claim_ticket`. */
function nameIn(tools: readonly string[], tool: string): string | undefined {
  return tools.find((name) => name === tool) ??
    tools.find((name) => /[_.-]/.test(name.at(-tool.length - 1) ?? "") && name.endsWith(tool));
}

/** An event of a stream: its name, if the API has names, and its data. */
type StreamEvent = readonly [name: string | null, data: unknown];

/** One API of models. */
interface Door {
  readonly path: RegExp;
  read(body: Readonly<Record<string, unknown>>): Turn;
  stream(reply: Reply, id: string): readonly StreamEvent[];
  whole(reply: Reply, id: string): object;
}

function events(all: readonly StreamEvent[]): Response {
  const text = all.map(([name, data]) =>
    `${name === null ? "" : `event: ${name}\n`}data: ${
      typeof data === "string" ? data : JSON.stringify(data)
    }\n\n`
  );
  return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
}

/** https://docs.anthropic.com/en/api/messages-streaming */
const ANTHROPIC: Door = {
  path: /\/v1\/messages$/,
  read({ tools, messages }) {
    const blocks = list(messages).flatMap((message) => {
      const content = field(message, "content");
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
      return parts.map((part) => ({ role: field(message, "role"), part }));
    });
    return turnOf(
      list(tools).map((tool) => String(field(tool, "name"))),
      blocks.flatMap(({ role, part }): Item[] =>
        field(part, "type") === "tool_result" && !isSearch(field(part, "content"))
          ? [{ result: textIn(field(part, "content")) }]
          : role === "user" && field(part, "type") === "text"
          ? [{ said: String(field(part, "text")) }]
          : []
      ),
    );
  },
  stream(reply, id) {
    const { content, ...message } = this.whole(reply, id) as { content: object[] };
    const [block] = content;
    const isCall = "tool" in reply;
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(reply.input) }
      : { type: "text_delta", text: reply.text };
    const start = isCall ? { ...block, input: {} } : { ...block, text: "" };
    const data = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: start },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    ];
    return data.map((one) => [one.type, one]);
  },
  whole(reply, id) {
    return {
      id: `msg_${id}`,
      type: "message",
      role: "assistant",
      model: "scripted",
      content: [
        "tool" in reply
          ? { type: "tool_use", id: `toolu_${id}`, name: reply.tool, input: reply.input }
          : { type: "text", text: reply.text },
      ],
      stop_reason: "tool" in reply ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  },
};

/** https://platform.openai.com/docs/api-reference/chat/streaming */
const CHAT: Door = {
  path: /\/chat\/completions$/,
  read({ tools, messages }) {
    return turnOf(
      list(tools).map((tool) => String(field(field(tool, "function"), "name"))),
      list(messages).flatMap((message): Item[] => {
        const role = field(message, "role");
        const text = textIn(field(message, "content"));
        return role === "tool" ? [{ result: text }] : role === "user" ? [{ said: text }] : [];
      }),
    );
  },
  stream(reply, id) {
    const chunk = (delta: object, finish_reason: string | null) => ({
      id: `chatcmpl-${id}`,
      object: "chat.completion.chunk",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const delta = "tool" in reply
      ? { role: "assistant", tool_calls: [{ index: 0, ...callOf(reply.tool, reply.input, id) }] }
      : { role: "assistant", content: reply.text };
    const end = {
      ...chunk({}, "tool" in reply ? "tool_calls" : "stop"),
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    return [[null, chunk(delta, null)], [null, end], [null, "[DONE]"]];
  },
  whole(reply, id) {
    const message = "tool" in reply
      ? { role: "assistant", content: null, tool_calls: [callOf(reply.tool, reply.input, id)] }
      : { role: "assistant", content: reply.text };
    const finish_reason = "tool" in reply ? "tool_calls" : "stop";
    return {
      id: `chatcmpl-${id}`,
      object: "chat.completion",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, message, finish_reason }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  },
};

function callOf(name: string, input: object, id: string) {
  const call = { name, arguments: JSON.stringify(input) };
  return { id: `call_${id}`, type: "function", function: call };
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
const RESPONSES: Door = {
  path: /\/responses$/,
  read({ tools, input }) {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : list(input);
    return turnOf(
      list(tools).flatMap((tool) => {
        const inner = list(field(tool, "tools"));
        const name = String(field(tool, "name"));
        return inner.length === 0
          ? [name]
          : inner.map((one) => `${name}${SPACE}${String(field(one, "name"))}`);
      }),
      items.flatMap((item): Item[] => {
        if (field(item, "type") === "function_call_output") {
          return [{ result: textIn(field(item, "output")) }];
        }
        return field(item, "role") === "user" ? [{ said: textIn(field(item, "content")) }] : [];
      }),
    );
  },
  stream(reply, id) {
    const response = this.whole(reply, id) as { output: readonly object[] };
    const [item] = response.output;
    const empty = { ...response, status: "in_progress", output: [] };
    const data = [
      { type: "response.created", response: empty },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
    return data.map((one, index) => [one.type, { ...one, sequence_number: index }]);
  },
  whole(reply, id) {
    const [namespace, name] = "tool" in reply ? spaceOf(reply.tool) : [];
    const output = "tool" in reply
      ? {
        type: "function_call",
        id: `fc_${id}`,
        call_id: `call_${id}`,
        name,
        ...namespace === undefined ? {} : { namespace },
        arguments: JSON.stringify(reply.input),
        status: "completed",
      }
      : {
        type: "message",
        id: `msg_${id}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: reply.text, annotations: [] }],
      };
    return {
      id: `resp_${id}`,
      object: "response",
      created_at: 1,
      model: "scripted",
      status: "completed",
      output: [output],
      parallel_tool_calls: false,
      tool_choice: "auto",
      tools: [],
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        total_tokens: 2,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    };
  },
};

/** Between a namespace of tools and a name in it. */
const SPACE = ".";

function spaceOf(tool: string): readonly [string | undefined, string] {
  const at = tool.indexOf(SPACE);
  return at < 0 ? [undefined, tool] : [tool.slice(0, at), tool.slice(at + 1)];
}

/** https://ai.google.dev/api/generate-content */
const GEMINI: Door = {
  path: /:(?:streamG|g)enerateContent$/,
  read({ tools, contents }) {
    return turnOf(
      list(tools).flatMap((tool) =>
        list(field(tool, "functionDeclarations")).map((one) => String(field(one, "name")))
      ),
      list(contents).flatMap((content) =>
        list(field(content, "parts")).flatMap((part): Item[] => {
          const response = field(part, "functionResponse");
          if (response !== undefined) {
            return [{ result: JSON.stringify(field(response, "response")) }];
          }
          const text = field(part, "text");
          return field(content, "role") === "user" && typeof text === "string"
            ? [{ said: text }]
            : [];
        })
      ),
    );
  },
  stream(reply, id) {
    return [[null, this.whole(reply, id)]];
  },
  whole(reply) {
    const part = "tool" in reply
      ? { functionCall: { name: reply.tool, args: reply.input } }
      : { text: reply.text };
    return {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: "scripted",
    };
  },
};

const DOORS: readonly Door[] = [ANTHROPIC, CHAT, RESPONSES, GEMINI];

type Item = { readonly said: string } | { readonly result: string };

function turnOf(tools: readonly string[], items: readonly Item[]): Turn {
  const last = items.findLastIndex((item) => "said" in item && /\bSTEP [\w-]+/.test(item.said));
  return {
    tools,
    said: items.flatMap((item) => "said" in item ? [item.said] : []).join("\n"),
    results: items.slice(last + 1).flatMap((item) => "result" in item ? [item.result] : []),
  };
}

/** Whether a result names tools that the client has found for the model. */
function isSearch(content: unknown): boolean {
  return list(content).some((part) => field(part, "type") === "tool_reference");
}

/** The text of a content: a text, or a list of parts with texts. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content).map((part) => field(part, "text")).filter((text) => text !== undefined)
    .join("\n");
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
