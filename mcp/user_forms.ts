/**
 * Elicitation: a tool lets the client ask its own user. The call ends with a form, and the client
 * repeats it with the user's reply (MCP 2026-07-28, multi round-trip requests). `muster mcp` does
 * this for clients of earlier revisions, which get `elicitation/create`; meanwhile it repeats the call
 * without an answer, to wait for that of somebody else.
 */
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import { isRecord } from "./json_rpc.ts";

/** `muster mcp` sends this header with a call if its client can ask its user. */
export const ELICITATION = "Muster-Elicitation";

/** The name of the only form of a call. */
const FORM = "answer";

/** Longest state of a form that is read, in characters. */
const MAX_STATE = 200;

/** What a tool asks the user of the client. */
export interface UserForm {
  readonly message: string;
  /** The user chooses one of these; if it is empty, the answer is free text. */
  readonly choices: readonly string[];
  /** What the tool needs to go on. The caller can change it. */
  readonly state: string;
}

/** What the user replied; `answer` is null if they declined or closed the form. */
export interface UserReply {
  readonly state: string;
  readonly answer: string | null;
}

/** Whether a client with these capabilities shows forms. An early one says `elicitation: {}`. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined;
  if (!isRecord(elicitation)) return false;
  return "form" in elicitation || Object.keys(elicitation).length === 0;
}

/** Ends a call: the client shows a form to its user, and calls again with the reply. */
export class UserAsked extends Error {
  readonly form: UserForm;

  constructor(form: UserForm) {
    super("The user of the client is asked");
    this.form = form;
  }
}

/** The result that asks the client's user. */
export function formResult(form: UserForm): InputRequiredResult {
  return {
    resultType: "input_required",
    inputRequests: formRequests(form),
    requestState: form.state,
  };
}

/** The form as a request to the client. */
export function formRequests(
  { message, choices }: UserForm,
): NonNullable<InputRequiredResult["inputRequests"]> {
  const answer = choices.length === 0
    ? { type: "string" as const, title: "Answer" }
    : { type: "string" as const, title: "Answer", enum: [...choices] };
  const requestedSchema = {
    type: "object" as const,
    properties: { [FORM]: answer },
    required: [FORM],
  };
  const params = { mode: "form" as const, message, requestedSchema };
  return { [FORM]: { method: "elicitation/create", params } };
}

const repliesSchema = z.object({
  [FORM]: z.union([
    z.object({
      action: z.literal("accept"),
      content: z.object({ [FORM]: z.union([z.string(), z.number(), z.boolean()]) }),
    }),
    z.object({ action: z.enum(["decline", "cancel"]) }),
  ]),
});

/**
 * The reply in a repeated call; null if there is none.
 *
 * @param responses the `inputResponses` of the call, which nobody has checked
 * @param state its `requestState`
 */
export function replyIn(responses: unknown, state: unknown): UserReply | null {
  if (typeof state !== "string") return null;
  const { data } = repliesSchema.safeParse(responses);
  if (data === undefined) return null;
  const reply = data[FORM];
  // No tool gave a state that is empty: it refuses such a reply.
  const known = state.length <= MAX_STATE ? state : "";
  return { state: known, answer: reply.action === "accept" ? String(reply.content[FORM]) : null };
}

/** Separates a repeated call from the reply that it carries; without one, the reply is null. */
export function takeReply(
  body: unknown,
): { readonly call: unknown; readonly reply: UserReply | null } {
  if (!isRecord(body) || !isRecord(body.params)) return { call: body, reply: null };
  const { inputResponses, requestState, ...params } = body.params;
  return { call: { ...body, params }, reply: replyIn(inputResponses, requestState) };
}
