import type { HonoRequest } from "hono";
import { LOGIN_COOKIE, messageFormOf } from "../services/engines/fossil/front/mod.ts";

/** Whether a request is a message of the sync protocol, whatever its path. */
export function isSync({ method, raw }: Pick<HonoRequest, "method" | "raw">): boolean {
  return method === "POST" && messageFormOf(raw.headers.get("content-type")) !== null;
}

/** The value of the cookie that may hold a client's login, undecoded; null if there is none. */
export function loginCookieOf(headers: Headers): string | null {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const [name, ...value] = pair.split("=");
    if (name?.trim() === LOGIN_COOKIE) return value.join("=").trim();
  }
  return null;
}
