/** What the hooks of each client read and print. */

/** What the client said about the event. */
export interface HookEvent {
  readonly name: string;
  /** Whether the agent already works on because of a hook of the same kind. */
  readonly isRepeated: boolean;
}

/** Events that end a turn, by client; what a hook says there begins another. */
const ENDINGS: Readonly<Record<string, { readonly event: string; readonly decision: string }>> = {
  // https://code.claude.com/docs/en/hooks
  claude: { event: "Stop", decision: "block" },
  // https://developers.openai.com/codex/hooks
  codex: { event: "Stop", decision: "block" },
  // https://geminicli.com/docs/hooks/reference
  gemini: { event: "AfterAgent", decision: "deny" },
};

/** Events at which a client takes text for the model as `additionalContext`. */
const TAKING_CONTEXT: Readonly<Record<string, readonly string[]>> = {
  claude: ["SessionStart", "UserPromptSubmit", "PostToolUse"],
  codex: ["SessionStart", "UserPromptSubmit", "PostToolUse"],
  gemini: ["SessionStart", "BeforeAgent", "AfterTool"],
};

/** The events of a client's end of turn and of its context. */
export const HOOK_CLIENTS = Object.freeze(Object.keys(ENDINGS));

/**
 * Reads the event from what the client wrote to standard input.
 *
 * @param text JSON, perhaps cut off
 * @returns null if it names no event
 */
export function eventOf(text: string): HookEvent | null {
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input !== "object" || input === null) return null;
    const fields = input as Readonly<Record<string, unknown>>;
    const name = fields["hook_event_name"];
    if (typeof name !== "string") return null;
    return { name, isRepeated: fields["stop_hook_active"] === true };
  } catch {
    // The results of a tool may be longer than what was read; the name stands before them.
    const name = /"hook_event_name"\s*:\s*"(\w+)"/.exec(text)?.[1];
    return name === undefined ? null : { name, isRepeated: false };
  }
}

/**
 * Whether a hook of this client may say something at this event. At the end of a turn it speaks once:
 * a second time could keep the agent at work forever.
 */
export function maySpeak(client: string, { name, isRepeated }: HookEvent): boolean {
  if (name === ENDINGS[client]?.event) return !isRepeated;
  return TAKING_CONTEXT[client]?.includes(name) === true;
}

/** The output that gives a text to the model. */
export function outputOf(client: string, { name }: HookEvent, text: string): string {
  const ending = ENDINGS[client];
  return JSON.stringify(
    name === ending?.event
      ? { decision: ending.decision, reason: text }
      : { hookSpecificOutput: { hookEventName: name, additionalContext: text } },
  );
}
