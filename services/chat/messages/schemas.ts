import { z } from "zod";
import { NICK_PATTERN } from "../../engines/irc/mod.ts";

/**
 * The text of a message. The service validates it; the pattern documents the allowed control
 * characters: tab, line ends and the formatting of IRC.
 */
export const spokenTextSchema = z.string().min(1).meta({
  description: "At most 64 KiB and 100 lines",
  pattern: "^[^\\x00\\x01\\x05-\\x08\\x0b\\x0c\\x0e\\x10\\x12-\\x15\\x17-\\x1c\\x7f-\\x9f]*$",
});

/** The nick that a request names. */
export const nickSchema = z.string().regex(NICK_PATTERN, {
  error: "must be an IRC nick of 1 to 64 characters",
});

/** The cursor of a reader of messages. */
export const sinceSchema = z.string().min(1).optional().meta({
  description: "Only what came after this timestamp, or after the message of this id",
});

/** The sender's own id of a message. */
export const clientIdSchema = z.string().min(1).max(128);
