/** The parts of the style sheet, in the order of their layers. */
import base from "./base.css" with { type: "text" };
import chat from "./chat.css" with { type: "text" };
import chatMessages from "./chat_messages.css" with { type: "text" };
import code from "./code.css" with { type: "text" };
import codeLines from "./code_lines.css" with { type: "text" };
import diff from "./diff.css" with { type: "text" };
import home from "./home.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import parts from "./parts.css" with { type: "text" };
import place from "./place.css" with { type: "text" };
import projectSettings from "./project_settings.css" with { type: "text" };
import runs from "./runs.css" with { type: "text" };
import timeline from "./timeline.css" with { type: "text" };
import tokens from "./tokens.css" with { type: "text" };
import work from "./work.css" with { type: "text" };

/** `tokens` has every color, space and size; the other files use no values of their own. */
export const STYLES: readonly string[] = [
  "@layer tokens, base, frame, parts, pages;",
  tokens,
  base,
  frame,
  parts,
  code,
  codeLines,
  diff,
  timeline,
  home,
  place,
  work,
  projectSettings,
  runs,
  chat,
  chatMessages,
];
