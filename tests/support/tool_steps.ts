import * as projectOperations from "../../services/operation/daemon/operations.ts";
import { SERVER_OPERATIONS } from "../../services/operation/daemon/server_operations.ts";
import type { Declaration } from "../../services/people/identity/operation.ts";

/** What earlier calls found out. */
export interface ToolState {
  /** Makes names unique where several clients work on one server. */
  readonly run: string;
  ticket: string;
  message: string;
  question: number;
  review: number;
  tip: string;
}

/** The structured result of a call. */
export type Structured = Readonly<Record<string, unknown>>;

/** A call of a tool. */
export interface ToolStep {
  readonly tool: string;
  input(state: ToolState): Record<string, unknown>;
  /** Keeps what later calls need. */
  learn?(result: Structured, state: ToolState): void;
  /** How the tool refuses, where a refusal is right: the caller may not judge its own work. */
  readonly refusal?: RegExp;
}

const slug = "demo";

const step = (
  tool: string,
  input: ToolStep["input"] = () => ({ slug }),
  more: Pick<ToolStep, "learn" | "refusal"> = {},
): ToolStep => ({ tool, input, ...more });

const workspace = (suffix: string) => ({ run }: ToolState) => ({
  slug,
  name: `work-${suffix}-${run}`,
});

const ofTicket = ({ ticket }: ToolState) => ({ slug, uuid: ticket });

const WRITTEN: readonly ToolStep[] = [
  step("get_status", () => ({})),
  step("list_channels", () => ({})),
  step("register_agent", ({ run }) => ({ nick: `made-${run}` })),
  step("post", () => ({ channel: "#general", text: "hello" })),
  step("send_message", () => ({ channel: "#general", text: "hello" })),
  step("send_direct", () => ({ to: "other", text: "hello" }), {
    learn: ({ message_id }, state) => {
      state.message = String(message_id);
    },
  }),
  step("get_history", () => ({ channel: "#general", limit: 5 })),
  step("read_inbox", () => ({ limit: 5 })),
  step("acknowledge_messages", () => ({ up_to: "2026-01-01T00:00:00Z" })),
  step("get_message_state", ({ message }) => ({ id: message })),
  step("ask_human", ({ run }) => ({ text: `Shall I go on, ${run}?` }), {
    learn: ({ id }, state) => {
      state.question = Number(id);
    },
  }),
  step("get_answer", ({ question }) => ({ id: question })),
  step("withdraw_question", ({ question }) => ({ id: question })),
  step("list_needs", () => ({})),
  step("list_projects", () => ({})),
  step("get_project"),
  step("get_my_work", () => ({})),
  step("create_ticket", ({ run }) => ({ slug, title: `Ticket ${run}`, body: "What is wrong" })),
  step("list_tickets", undefined, {
    learn: ({ tickets }, state) => {
      state.ticket = (tickets as { uuid: string }[])[0]?.uuid ?? "";
    },
  }),
  step("get_ticket", ({ ticket }) => ({ slug, uuid: ticket })),
  step("update_ticket", ({ ticket }) => ({ slug, uuid: ticket, comment: "I look into it" })),
  step("claim_ticket", ({ ticket }) => ({ slug, uuid: ticket })),
  step("start_work", (state) => ({ ...ofTicket(state), workspace: `start-${state.run}` })),
  step("create_workspace", (state) => ({ ...workspace("a")(state), ticket: state.ticket })),
  step("commit_files", (state) => ({
    slug,
    workspace: workspace("a")(state).name,
    message: "Add a file",
    changes: [{ path: `file-${state.run}.txt`, content: "one\ntwo\n" }],
  })),
  step("list_workspaces"),
  step("get_workspace", workspace("a")),
  step("get_timeline", undefined, {
    learn: ({ checkins }, state) => {
      state.tip = (checkins as { uuid: string }[])[0]?.uuid ?? "";
    },
  }),
  step("get_checkin", ({ tip }) => ({ slug, uuid: tip })),
  step("get_diff", (state) => ({ slug, workspace: workspace("a")(state).name })),
  step("browse_code", () => ({ slug })),
  step("get_file", () => ({ slug, filepath: "seed.txt" })),
  step("get_file_history", () => ({ slug, filepath: "seed.txt" })),
  step("get_file_blame", () => ({ slug, filepath: "seed.txt" })),
  step("search_project", () => ({ slug, query: "file" })),
  step("get_branches"),
  step("update_workspace", workspace("a"), { refusal: /is merged already/ }),
  step(
    "report_ci_status",
    ({ tip }) => ({ slug, checkin: tip, context: "test", state: "success" }),
  ),
  step("wait_checks", ({ tip }) => ({ slug, checkin: tip })),
  step("create_review", (state) => ({
    slug,
    title: `Review ${state.run}`,
    workspace: workspace("a")(state).name,
  })),
  step("list_reviews", undefined, {
    learn: ({ reviews }, state) => {
      state.review = (reviews as { id: number }[])[0]?.id ?? 0;
    },
  }),
  step("get_review", ({ review }) => ({ slug, id: review })),
  step("comment_review", ({ review }) => ({ slug, id: review, body: "A comment" })),
  step("request_changes", ({ review }) => ({ slug, id: review, comment: "Change it" }), {
    refusal: /own/,
  }),
  step("approve_review", ({ review }) => ({ slug, id: review }), { refusal: /own/ }),
  step("land_review", ({ review }) => ({ slug, id: review }), { refusal: /approv|review/i }),
  step("get_landing_queue"),
  step("close_review", ({ review }) => ({ slug, id: review })),
  step("submit_work", ({ ticket }) => ({ slug, uuid: ticket, summary: "It is done" })),
  step("release_ticket", ({ ticket }) => ({ slug, uuid: ticket }), { refusal: /claim|submitted/i }),
  step("merge_workspace", workspace("a")),
  step("create_workspace", workspace("b")),
  step("abandon_workspace", workspace("b")),
  step("restore_workspace", workspace("b")),
  step("take_over_workspace", workspace("b"), { refusal: /yours|own|claim|already/i }),
  step("write_wiki_page", ({ run }) => ({ slug, page_name: `Page ${run}`, content: "# Hello" })),
  step("list_wiki_pages"),
  step("get_wiki_page", ({ run }) => ({ slug, page_name: `Page ${run}` })),
  step("create_tag", ({ run }) => ({ slug, name: `tag-${run}` })),
  step("get_tags"),
  step("create_release", ({ run }) => ({ slug, tag_name: `v1.0-${run}` })),
  step("get_releases"),
  step("sql_query", () => ({ slug, sql: "SELECT count(*) FROM event" })),
];

/** What is known of an operation. */
interface Declared {
  readonly declared: Pick<Declaration<never, never, never>, "mcp" | "example">;
}

/** The operations that are tools by declaration. */
export async function declaredTools(): Promise<readonly Declared[]> {
  const rooms = await Promise.all(Object.values(SERVER_OPERATIONS).map((load) => load()));
  const all: readonly Declared[] = [
    ...Object.values(projectOperations),
    ...rooms.flatMap((room): readonly Declared[] => Object.values(room)),
  ];
  return all.filter(({ declared: { mcp } }) => mcp !== undefined);
}

/** A call with the example of a declaration. What it names may not exist. */
function exampleStep({ declared }: Declared): ToolStep {
  const { name: tool = "", names = {}, example = declared.example } = declared.mcp ?? {};
  const isInProject = "needs" in declared;
  const argumentOf = (field: string) =>
    Object.entries(names).find(([, named]) => named === field)?.[0] ?? field;
  const given = Object.entries(example ?? {}).map(([field, value]) => [argumentOf(field), value]);
  const input = { ...isInProject ? { slug } : {}, ...Object.fromEntries(given) };
  return step(tool, () => input, { refusal: /^(?!internal error)/ });
}

/**
 * A call for every tool, in an order in which each finds what it needs. A test of a client fails on a
 * tool without one: a tool that an operation declares is called with the example of its declaration
 * unless it stands above, and any other gets an entry there.
 */
export const TOOL_STEPS: readonly ToolStep[] = [
  ...WRITTEN,
  ...(await declaredTools()).filter(({ declared: { mcp } }) =>
    !WRITTEN.some(({ tool }) => tool === mcp?.name)
  ).map(exampleStep),
];
