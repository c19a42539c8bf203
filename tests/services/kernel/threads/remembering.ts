import type { Part } from "../../../../services/kernel/threads/mod.ts";

/** Answers each message with those that came before it; "break" breaks it. */
export const remembering: Part = (answer) => {
  const seen: unknown[] = [];
  return (message) => {
    if (message === "break") throw new Error("broken");
    answer(message === null ? null : [...seen, message].join());
    seen.push(message);
  };
};
