import { z } from "zod";
import { accountNameSchema, MAX_PASSWORD_LENGTH } from "../identity/mod.ts";
import { textSchema } from "../validation/mod.ts";

/** Shortest password of an admin, in characters. */
const MIN_PASSWORD_LENGTH = 8;

const newPasswordSchema = textSchema(MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH);

/** What an admin's account is made with. */
export const adminSchema = z.object({
  username: accountNameSchema,
  password: newPasswordSchema,
});

/** What an admin's password is replaced by. */
export const passwordSchema = z.object({ password: newPasswordSchema });

/** What an admin logs in with. */
export const loginSchema = z.object({ username: z.string(), password: z.string() });

export type AdminRequest = z.infer<typeof adminSchema>;
export type LoginRequest = z.infer<typeof loginSchema>;
