import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import type { Format } from "./format.ts";

/** The formats in which clients ask models. */
export const FORMATS = Object.freeze({ chat, messages, responses, embeddings }) satisfies Readonly<
  Record<string, Format>
>;
export type FormatName = keyof typeof FORMATS;
