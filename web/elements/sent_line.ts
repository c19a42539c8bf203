/**
 * A line of a log as the stream of a page sends it, in few bytes: its number, milliseconds since the job
 * began, where it comes from, and its text.
 */
export type SentLine = readonly [
  number: number,
  at: number,
  stream: "out" | "err" | "note" | "command",
  text: string,
];
