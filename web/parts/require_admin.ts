import { Forbidden } from "../../services/kernel/errors.ts";
import type { Visit } from "../visit.ts";

/**
 * Refuses a form of a page that people may see and only admins may change.
 *
 * @throws Forbidden
 */
export function requireAdmin({ isAdmin }: Pick<Visit, "isAdmin">): void {
  if (!isAdmin) throw new Forbidden("Only admins may do this");
}
