import { z } from "zod";
import { MAX_PASSWORD_LENGTH } from "../identity/mod.ts";
import { accountNameSchema } from "../identity/schemas.ts";
import { textSchema } from "../../kernel/validation/schemas.ts";

/** Shortest password of an admin, in characters. */
const MIN_PASSWORD_LENGTH = 8;

const newPasswordSchema = textSchema(MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH);

/** The request for a new admin. */
export const adminSchema = z.object({
  username: accountNameSchema,
  password: newPasswordSchema,
});

/** The request to change an admin's password. */
export const passwordSchema = z.object({ password: newPasswordSchema });

/** An admin's login. */
export const loginSchema = z.object({ username: z.string(), password: z.string() });

export type AdminRequest = z.infer<typeof adminSchema>;
export type LoginRequest = z.infer<typeof loginSchema>;
