/** Between the messages of Forgejo's runners and what the services know of tasks. */
import { create, fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Invalid } from "../../services/kernel/errors.ts";
import { Pauses } from "../../services/kernel/pieces.ts";
import type { ForgeTask, TaskProgress, TaskRow } from "../../services/work/runs/mod.ts";
import {
  LogRowSchema,
  Result,
  RunnerSchema,
  type Task,
  TaskNeedSchema,
  TaskSchema,
  type UpdateTaskRequest,
} from "./proto/runner_pb.ts";

const RESULTS = {
  success: Result.SUCCESS,
  failure: Result.FAILURE,
  cancelled: Result.CANCELLED,
  skipped: Result.SKIPPED,
} as const;

/** The numbers of the fields of `UpdateLogRequest`. */
const LOG = { taskId: 1, index: 2, rows: 3, noMore: 4 } as const;

/** Where the pages and the actions of a task are. */
export interface Addresses {
  readonly server: string;
  readonly actions: string;
}

/** A runner as it knows itself. */
export function runnerMessage(
  runner: { readonly id: string; readonly name: string; readonly labels: ReadonlySet<string> },
  { token = "", version = "" }: { readonly token?: string; readonly version?: string },
) {
  const { id, name, labels } = runner;
  return create(RunnerSchema, { id: 1n, uuid: id, name, labels: [...labels], token, version });
}

/** A task as a runner gets it. */
export function taskMessage(task: ForgeTask, { server, actions }: Addresses): Task {
  const { number, payload, github, token, secrets } = task;
  const needs = Object.entries(task.needs).map(([id, { result, outputs }]) =>
    [id, create(TaskNeedSchema, { result: RESULTS[result], outputs })] as const
  );
  const context = {
    ...github,
    token,
    server_url: server,
    api_url: `${server}/v1`,
    gitea_default_actions_url: actions,
    gitea_runtime_token: token,
  };
  return create(TaskSchema, {
    id: BigInt(number),
    workflowPayload: new TextEncoder().encode(payload),
    context: context as JsonObject,
    secrets: { ...secrets, GITHUB_TOKEN: token, GITEA_TOKEN: token, FORGEJO_TOKEN: token },
    needs: Object.fromEntries(needs),
  });
}

/** How far a task is. */
export function progressOf({ state, outputs }: UpdateTaskRequest): TaskProgress {
  return {
    result: resultOf(state?.result),
    steps: (state?.steps ?? []).map(({ result, logIndex, logLength }) => ({
      result: resultOf(result),
      row: Number(logIndex),
      rows: Number(logLength),
    })),
    outputs,
  };
}

function resultOf(result: Result | undefined): TaskProgress["result"] {
  switch (result) {
    case Result.SUCCESS:
      return "success";
    case Result.FAILURE:
      return "failure";
    case Result.CANCELLED:
      return "cancelled";
    case Result.SKIPPED:
      return "skipped";
    default:
      return null;
  }
}

/** Rows of a log, and whose they are. */
export interface LogRows {
  readonly number: number;
  readonly from: number;
  readonly rows: readonly TaskRow[];
  readonly isLast: boolean;
}

/**
 * Reads `UpdateLogRequest`, which may have all that a job printed at once, in pieces.
 *
 * @throws Invalid if it is malformed
 */
export async function readLogRows(body: Uint8Array): Promise<LogRows> {
  const read = { number: 0, from: 0, isLast: false };
  const rows: TaskRow[] = [];
  const pauses = new Pauses();
  try {
    const reader = new BinaryReader(body);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === LOG.rows && type === WireType.LengthDelimited) {
        const { time, content } = fromBinary(LogRowSchema, reader.bytes());
        rows.push({ at: millisecondsOf(time), text: content });
        if (rows.length % 64 === 0 && pauses.isDue) await pauses.pause();
      } else if (field === LOG.taskId) read.number = Number(reader.int64());
      else if (field === LOG.index) read.from = Number(reader.int64());
      else if (field === LOG.noMore) read.isLast = reader.bool();
      else reader.skip(type, field);
    }
  } catch (error) {
    throw new Invalid("The message is malformed", { cause: error });
  }
  return { ...read, rows };
}

function millisecondsOf(time: Timestamp | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}
