/** A runner of Forgejo that a test plays: the messages that the program sends. */
import assert from "node:assert/strict";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeclareRequestSchema,
  DeclareResponseSchema,
  FetchTaskRequestSchema,
  FetchTaskResponseSchema,
  RegisterRequestSchema,
  RegisterResponseSchema,
  Result,
  type Task,
  UpdateLogRequestSchema,
  UpdateLogResponseSchema,
  UpdateTaskRequestSchema,
  UpdateTaskResponseSchema,
} from "../../routes/actions/proto/runner_pb.ts";
import type { GitTest } from "./git_door.ts";

/** How a step ended, and how many rows it printed. */
type PlayedStep = readonly [result: Result, rows: number];

/** A runner that is registered. */
export class ForgeRunner {
  readonly #origin: string;
  readonly token: string;

  constructor(origin: string, token: string) {
    this.#origin = origin;
    this.token = token;
  }

  /** Makes a runner, and registers it with labels. */
  static async make(
    { api, origin }: Pick<GitTest, "api" | "origin">,
    labels: readonly string[] = ["linux"],
    name = "forge-1",
  ): Promise<ForgeRunner> {
    const { token } = await api.answer("POST /v1/runners", { name }) as { token: string };
    const runner = new ForgeRunner(origin, token);
    const request = { name: "mine", token, labels: [...labels], version: "v12.1.2" };
    const made = await runner.call(
      "Register",
      RegisterRequestSchema,
      RegisterResponseSchema,
      request,
    );
    assert.equal(made.runner?.name, name);
    assert.equal(made.runner.token, token);
    const said = { version: "v12.1.2", labels: [...labels] };
    await runner.call("Declare", DeclareRequestSchema, DeclareResponseSchema, said);
    return runner;
  }

  /** Sends a request; gives the answer as it is. */
  send<In extends DescMessage>(
    method: string,
    schema: In,
    request: MessageInitShape<In>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.#origin}/api/actions/runner.v1.RunnerService/${method}`, {
      method: "POST",
      headers: {
        "content-type": "application/proto",
        "x-runner-token": this.token,
        "connect-protocol-version": "1",
        ...headers,
      },
      body: toBinary(schema, create(schema, request)) as Uint8Array<ArrayBuffer>,
    });
  }

  /** Sends a request that succeeds. */
  async call<In extends DescMessage, Out extends DescMessage>(
    method: string,
    schema: In,
    answer: Out,
    request: MessageInitShape<In>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<MessageShape<Out>> {
    const response = await this.send(method, schema, request, headers);
    const body = new Uint8Array(await response.arrayBuffer());
    assert.equal(response.status, 200, new TextDecoder().decode(body));
    return fromBinary(answer, body);
  }

  /** The next task; undefined if none is there at once, or within a time in milliseconds. */
  async fetch(wait = 0): Promise<Task | undefined> {
    const headers = { "connect-timeout-ms": String(wait + 500) };
    const { task } = await this.call(
      "FetchTask",
      FetchTaskRequestSchema,
      FetchTaskResponseSchema,
      { tasksVersion: 0n },
      headers,
    );
    return task;
  }

  /** Sends rows of a log; gives how many the server has. */
  async log(
    { id }: Pick<Task, "id">,
    index: number,
    rows: readonly string[],
    noMore = false,
  ): Promise<number> {
    const { ackIndex } = await this.call(
      "UpdateLog",
      UpdateLogRequestSchema,
      UpdateLogResponseSchema,
      {
        taskId: id,
        index: BigInt(index),
        rows: rows.map((content) => ({ time: timestampFromMs(Date.now()), content })),
        noMore,
      },
    );
    return Number(ackIndex);
  }

  /** Tells how far a task is; gives what the server says of it, and the outputs that it has. */
  async update(
    { id }: Pick<Task, "id">,
    result: Result,
    { steps = [], outputs = {} }: {
      readonly steps?: readonly PlayedStep[];
      readonly outputs?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<{ readonly result: Result | undefined; readonly sent: readonly string[] }> {
    let logIndex = 0;
    const { state, sentOutputs } = await this.call(
      "UpdateTask",
      UpdateTaskRequestSchema,
      UpdateTaskResponseSchema,
      {
        state: {
          id,
          result,
          steps: steps.map(([result, rows], index) => {
            const step = { id: BigInt(index), result, logIndex: BigInt(logIndex) };
            logIndex += rows;
            return { ...step, logLength: BigInt(rows) };
          }),
        },
        outputs: { ...outputs },
      },
    );
    return { result: state?.result, sent: sentOutputs };
  }

  /** Runs the next task to its end. */
  async run(
    result: Result = Result.SUCCESS,
    outputs: Readonly<Record<string, string>> = {},
  ): Promise<Task> {
    const task = await this.fetch(20_000);
    assert.ok(task !== undefined);
    await this.log(task, 0, ["⭐ Run Main it", "hello"], true);
    await this.update(task, result, { steps: [[result, 2]], outputs });
    return task;
  }
}
