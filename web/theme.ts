import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { AppEnv } from "../routes/environment.ts";

/** The cookie of the chosen theme, which is set by the page's own script too. */
const THEME_COOKIE = "muster_theme";

/** `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

/** The theme that the person chose. */
export function themeOf(context: Context<AppEnv>): Theme {
  const chosen = getCookie(context, THEME_COOKIE);
  return chosen === "light" || chosen === "dark" ? chosen : "auto";
}
