import { z } from "zod";

/** The sender's own id of a message. */
export const clientIdSchema = z.string().min(1).max(128);
