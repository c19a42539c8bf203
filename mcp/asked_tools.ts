/**
 * Clients ask their users before each call of these tools, also where they ask for no other. They are
 * for people and operators, or an agent cannot undo them.
 */
export const ASKED_TOOLS: readonly string[] = Object.freeze([
  "register_agent",
  "answer_question",
  "abandon_workspace",
  "close_review",
]);
