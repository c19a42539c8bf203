/**
 * What the official conformance runner wants to find on a server: tools, resources and prompts with
 * names of its own. They answer behind muster's own door: its HTTP endpoint, its protocol and its
 * library, as what muster itself offers.
 */
import {
  type CallToolResult,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Tool as ToolListing,
} from "@modelcontextprotocol/server";
import { Waits } from "../../http/mod.ts";
import type { Answering } from "../../mcp/http.ts";
import { isRecord } from "../../mcp/json_rpc.ts";
import type { McpServices } from "../../mcp/mod.ts";
import { Protocol } from "../../mcp/protocol.ts";
import type { Resources } from "../../mcp/resources.ts";
import { type Capabilities, Results, type Session } from "../../mcp/results.ts";
import { followsTasks, TASKS, type TaskView } from "../../mcp/tasks.ts";
import type { TaskResult, Tool } from "../../mcp/tool.ts";
import { Invalid, NotFound } from "../../services/kernel/errors.ts";

type Outcome = CallToolResult | InputRequiredResult | TaskResult;
type Run = (session: Session, input: Record<string, unknown>) => Promise<Outcome> | Outcome;

/** What answers the runner. */
export function conformanceProtocols(services: McpServices): Answering {
  const results = new FixtureResults([], { ...services, waits: new Waits() });
  const protocol = new Protocol(results, services.scheduler!);
  return {
    prepare: () => Promise.resolve(),
    rehearse: () => Promise.resolve(),
    placements: () => [],
    answering: () => Promise.resolve(protocol),
  };
}

/** A transparent pixel as PNG. */
const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** A WAV file without sound. */
const AUDIO = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const text = (said: string) => ({ type: "text" as const, text: said });
const image = { type: "image" as const, data: IMAGE, mimeType: "image/png" };
const embedded = (uri: string, mimeType: string, said: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: said },
});

function form(message: string, field: string, type: "string" | "boolean" = "string") {
  const value = type === "string" ? { type: "string" as const } : { type: "boolean" as const };
  const requestedSchema = {
    type: "object" as const,
    properties: { [field]: value },
    required: [field],
  };
  return { method: "elicitation/create" as const, params: { message, requestedSchema } };
}

function sample(question: string) {
  const messages = [{ role: "user" as const, content: text(question) }];
  return { method: "sampling/createMessage" as const, params: { messages, maxTokens: 100 } };
}

const ROOTS = { method: "roots/list" as const, params: {} };

function asks(
  inputRequests: NonNullable<InputRequiredResult["inputRequests"]>,
  requestState?: string,
): InputRequiredResult {
  const state = requestState === undefined ? {} : { requestState };
  return { resultType: "input_required", inputRequests, ...state };
}

const said = (words: string): CallToolResult => ({ content: [text(words)] });

/** The replies to what a call asked. */
function repliesOf({ client }: Session): Readonly<Record<string, unknown>> {
  return isRecord(client?.responses) ? client.responses : {};
}

/** What a form was filled with. */
function filled(session: Session, name: string, field: string): unknown {
  const reply = repliesOf(session)[name];
  const content = isRecord(reply) ? reply.content : undefined;
  return isRecord(content) ? content[field] : undefined;
}

function capabilitiesOf({ client }: Session): Readonly<Record<string, unknown>> {
  return isRecord(client?.capabilities) ? client.capabilities : {};
}

const codec = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

/** @throws ProtocolError if the state is not one that was given */
async function stateOf({ client }: Session): Promise<Readonly<Record<string, unknown>> | null> {
  if (typeof client?.state !== "string") return null;
  try {
    const state = await codec.verify(client.state, {} as ServerContext);
    return isRecord(state) ? state : null;
  } catch {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      '"requestState" is not one given here',
    );
  }
}

/** A tool whose schema has keywords of JSON Schema 2020-12. */
const SCHEMA_TOOL = "json_schema_2020_12_tool";
const SCHEMA: ToolListing["inputSchema"] = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** A task of a fixture: it ends by itself, or once it has what it asked. */
interface FixtureTask {
  readonly createdAt: string;
  /** When it ends by itself, in Unix milliseconds. */
  readonly endsAt: number;
  readonly asked: Map<string, ReturnType<typeof form>>;
  readonly end: Readonly<Record<string, unknown>>;
  isCancelled: boolean;
}

/** The tasks of one server. */
class FixtureTasks {
  readonly #tasks = new Map<string, FixtureTask>();

  begin(end: FixtureTask["end"], more: Partial<FixtureTask> = {}): TaskResult {
    const taskId = crypto.randomUUID();
    const createdAt = new Date().toISOString();
    const task = { createdAt, endsAt: 0, asked: new Map(), end, isCancelled: false, ...more };
    this.#tasks.set(taskId, task);
    return { content: [], resultType: "task", ...this.#view(taskId, task, "working") };
  }

  see(taskId: string): TaskView {
    const task = this.#found(taskId);
    const view = (status: TaskView["status"], payload?: object) => (
      { ...this.#view(taskId, task, status), ...payload }
    );
    if (task.isCancelled) return view("cancelled");
    if (task.asked.size > 0) {
      return view("input_required", { inputRequests: Object.fromEntries(task.asked) });
    }
    if (Date.now() < task.endsAt) return view("working");
    return view("error" in task.end ? "failed" : "completed", task.end);
  }

  update(taskId: string, responses: unknown): void {
    const { asked } = this.#found(taskId);
    for (const name of Object.keys(isRecord(responses) ? responses : {})) asked.delete(name);
  }

  cancel(taskId: string): void {
    const task = this.#found(taskId);
    if (this.see(taskId).status === "working") task.isCancelled = true;
  }

  #found(taskId: string): FixtureTask {
    const task = this.#tasks.get(taskId);
    if (task === undefined) throw new NotFound("There is no such task");
    return task;
  }

  #view(taskId: string, { createdAt }: FixtureTask, status: TaskView["status"]): TaskView {
    const times = { createdAt, lastUpdatedAt: createdAt };
    return { taskId, status, ...times, ttlMs: 60_000, pollIntervalMs: 100 };
  }
}

/** Calls that are tasks for clients that follow tasks. */
function taskTools(tasks: FixtureTasks): Readonly<Record<string, Run>> {
  const follows = ({ client }: Session) => followsTasks(client?.capabilities);
  const requireTasks = (session: Session) => {
    if (follows(session)) return;
    const requiredCapabilities = { extensions: { [TASKS]: {} } };
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
  };
  return {
    greet: (_session, { name }) => said(`Hello, ${String(name)}!`),
    slow_compute(session, { seconds = 0, label }) {
      const result = said(`computed ${String(label)}`);
      const endsAt = Date.now() + Number(seconds) * 1000;
      return follows(session) ? tasks.begin({ result }, { endsAt }) : result;
    },
    failing_job(session) {
      requireTasks(session);
      return tasks.begin({ result: { ...said("The job failed"), isError: true } });
    },
    protocol_error_job(session) {
      requireTasks(session);
      return tasks.begin({ error: { code: -32603, message: "internal error" } });
    },
    confirm_delete(session, { filename }) {
      requireTasks(session);
      const asked = new Map([["confirm", form("Delete it?", "confirm", "boolean")]]);
      return tasks.begin({ result: said(`deleted ${String(filename)}`) }, { asked });
    },
    multi_input(session) {
      requireTasks(session);
      const asked = new Map([
        ["one", form("What is your name?", "name")],
        ["two", form("Are you sure?", "confirm", "boolean")],
      ]);
      return tasks.begin({ result: said("both are here") }, { asked });
    },
    test_tool_with_task(session) {
      requireTasks(session);
      const name = filled(session, "user_name", "name");
      if (typeof name !== "string") return asks({ user_name: form("Your name?", "name") });
      return tasks.begin({ result: said(`Hello, ${name}!`) });
    },
  };
}

const TOOLS: Readonly<Record<string, Run>> = {
  test_simple_text: () => said("This is a simple text response for testing."),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({
    content: [{ type: "audio", data: AUDIO, mimeType: "audio/wav" }],
  }),
  test_embedded_resource: () => ({
    content: [embedded("test://embedded-resource", "text/plain", "An embedded resource.")],
  }),
  test_multiple_content_types: () => ({
    content: [
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data"}'),
    ],
  }),
  test_error_handling: () => ({
    ...said("This tool intentionally returns an error for testing"),
    isError: true,
  }),
  async test_tool_with_progress({ client }) {
    for (const done of [0, 50, 100]) await client?.progress?.(done, 100);
    return said("done");
  },
  async test_streaming_elicitation({ client }) {
    await client?.progress?.(50, 100);
    return said("done");
  },
  test_logging_tool: () => said("done"),
  [SCHEMA_TOOL]: () => said("done"),
  test_missing_capability(session) {
    if (capabilitiesOf(session)["sampling"] !== undefined) return said("done");
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  test_input_required_result_elicitation(session) {
    const name = filled(session, "user_name", "name");
    if (typeof name === "string") return said(`Hello, ${name}!`);
    return asks({ user_name: form("What is your name?", "name") });
  },
  test_input_required_result_sampling(session) {
    if (repliesOf(session)["capital_question"] !== undefined) return said("Sampled");
    return asks({ capital_question: sample("What is the capital of France?") });
  },
  test_input_required_result_list_roots(session) {
    if (repliesOf(session)["client_roots"] !== undefined) return said("Found roots");
    return asks({ client_roots: ROOTS });
  },
  async test_input_required_result_request_state(session) {
    const state = await stateOf(session);
    if (state?.["kind"] === "state" && filled(session, "confirm", "ok") === true) {
      return said("state-ok: requestState validated");
    }
    const requests = { confirm: form("Please confirm", "ok", "boolean") };
    return asks(requests, await codec.mint({ kind: "state" }));
  },
  async test_input_required_result_multiple_inputs(session) {
    const { user_name: name, greeting, client_roots: roots } = repliesOf(session);
    const state = await stateOf(session);
    if (state !== null && [name, greeting, roots].every((reply) => reply !== undefined)) {
      return said("All replies are here");
    }
    return asks({
      user_name: form("What is your name?", "name"),
      greeting: sample("Generate a greeting"),
      client_roots: ROOTS,
    }, await codec.mint({ kind: "several" }));
  },
  async test_input_required_result_multi_round(session) {
    const state = await stateOf(session);
    const name = filled(session, "step1", "name");
    if (state?.["round"] === 2 && filled(session, "step2", "color") !== undefined) {
      return said(`${String(state["name"])} has been asked twice`);
    }
    if (state?.["round"] === 1 && typeof name === "string") {
      const requests = { step2: form("What is your favorite color?", "color") };
      return asks(requests, await codec.mint({ round: 2, name }));
    }
    const requests = { step1: form("What is your name?", "name") };
    return asks(requests, await codec.mint({ round: 1 }));
  },
  async test_input_required_result_tampered_state(session) {
    if (await stateOf(session) !== null) return said("integrity-ok: state verified");
    const requests = { confirm: form("Please confirm", "ok", "boolean") };
    return asks(requests, await codec.mint({ kind: "tamper" }));
  },
  async test_input_required_result_capabilities(session) {
    if (Object.keys(repliesOf(session)).length > 0) return said("capabilities-ok");
    const { elicitation, sampling } = capabilitiesOf(session);
    return asks({
      ...(elicitation === undefined ? {} : { elicit_input: form("A value", "value") }),
      ...(sampling === undefined ? {} : { sample_input: sample("Sample request") }),
    }, await codec.mint({ kind: "capabilities" }));
  },
};

const PROMPTS: Readonly<
  Record<string, (input: Readonly<Record<string, string>>) => GetPromptResult["messages"]>
> = {
  test_simple_prompt: () => [{ role: "user", content: text("A simple prompt") }],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    { role: "user", content: text(`arg1='${arg1}', arg2='${arg2}'`) },
  ],
  test_prompt_with_embedded_resource: ({ resourceUri = "" }) => [
    { role: "user", content: embedded(resourceUri, "text/plain", "An embedded resource.") },
    { role: "user", content: text("Process the resource above.") },
  ],
  test_prompt_with_image: () => [
    { role: "user", content: image },
    { role: "user", content: text("Analyze the image above.") },
  ],
};

const PROMPT_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};

/** A prompt that asks the user first. */
const ASKING_PROMPT = "test_input_required_result_prompt";

const RESOURCES: Resources = {
  opens: () => true,
  templates: [{
    uriTemplate: "test://template/{id}/data",
    name: "template",
    mimeType: "application/json",
  }],
  list: () =>
    Promise.resolve({
      resources: [
        { uri: "test://static-text", name: "static-text", mimeType: "text/plain" },
        { uri: "test://static-binary", name: "static-binary", mimeType: "image/png" },
      ],
    }),
  read(uri) {
    const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
    if (uri === "test://static-text") {
      const said = "This is the content of the static text resource.";
      return Promise.resolve({ contents: [{ uri, mimeType: "text/plain", text: said }] });
    }
    if (uri === "test://static-binary") {
      return Promise.resolve({ contents: [{ uri, mimeType: "image/png", blob: IMAGE }] });
    }
    if (id === undefined) throw new NotFound("There is no such resource");
    const said = JSON.stringify({ id, data: `Data for ID: ${id}` });
    return Promise.resolve({ contents: [{ uri, mimeType: "application/json", text: said }] });
  },
};

/** The results of the fixtures, in place of muster's own. */
class FixtureResults extends Results {
  readonly #tasks = new FixtureTasks();
  readonly #runs: Readonly<Record<string, Run>> = { ...TOOLS, ...taskTools(this.#tasks) };

  override capabilities(_session: Session): Capabilities {
    const extensions = { [TASKS]: {} };
    return { tools: {}, resources: {}, prompts: {}, completions: {}, extensions };
  }

  override resourcesFor(_session: Session): Resources {
    return RESOURCES;
  }

  override list(_session: Session): ToolListing[] {
    return Object.keys(this.#runs).map((name) => ({
      name,
      description: `The fixture ${name}`,
      inputSchema: name === SCHEMA_TOOL ? SCHEMA : { type: "object" },
    }));
  }

  override find(name: string, _session: Session): Tool | null {
    return this.#runs[name] === undefined ? null : { name } as Tool;
  }

  override async call(
    { name }: Tool,
    input: Record<string, unknown>,
    session: Session,
  ): Promise<Outcome> {
    const run = this.#runs[name];
    if (run === undefined) throw new Error(`There is no ${name}`);
    return await run(session, input);
  }

  override async task(id: string, _session: Session): Promise<TaskView> {
    return await Promise.resolve(this.#tasks.see(id));
  }

  override async updateTask(id: string, responses: unknown, _session: Session): Promise<void> {
    await Promise.resolve(this.#tasks.update(id, responses));
  }

  override async cancelTask(id: string, _session: Session): Promise<void> {
    await Promise.resolve(this.#tasks.cancel(id));
  }

  override prompts(_session: Session): Prompt[] {
    return [...Object.keys(PROMPTS), ASKING_PROMPT].map((name) => ({
      name,
      description: `The fixture ${name}`,
      arguments: (PROMPT_ARGUMENTS[name] ?? []).map((name) => ({ name, required: true })),
    }));
  }

  override prompt(
    name: string,
    input: Readonly<Record<string, string>>,
    session: Session,
  ): Promise<GetPromptResult | InputRequiredResult> {
    if (name === ASKING_PROMPT) {
      const context = filled(session, "user_context", "context");
      return Promise.resolve(
        typeof context === "string"
          ? { messages: [{ role: "user", content: text(`Prompt with context: ${context}`) }] }
          : asks({ user_context: form("What context should the prompt use?", "context") }),
      );
    }
    const messages = PROMPTS[name];
    if (messages === undefined) throw new Invalid(`There is no prompt "${name}"`);
    return Promise.resolve({ messages: messages(input) });
  }
}
