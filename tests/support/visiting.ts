/** People who are logged in to the pages of a running program, without a browser. */
import assert from "node:assert/strict";
import type { Server } from "./api.ts";

/** A person who is logged in. */
export interface LoggedIn {
  readonly name: string;
  /** The cookies of the session, by name. */
  readonly cookies: ReadonlyMap<string, string>;
}

/** Logs somebody in, as `POST /login` does. */
export async function logIn(
  { api }: Pick<Server, "api">,
  username: string,
  password: string,
): Promise<LoggedIn> {
  const response = await fetch(`${api}/login`, {
    method: "POST",
    body: JSON.stringify({ username, password }),
  });
  assert.equal(response.status, 200, await response.text());
  const cookies = response.headers.getSetCookie().map((line) => {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    return [name, value] as const;
  });
  return { name: username, cookies: new Map(cookies) };
}

/** The headers of a browser in which somebody is logged in. */
export function headersOf({ cookies }: LoggedIn): Record<string, string> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { cookie, accept: "text/html", "sec-fetch-site": "same-origin" };
}

/** Sends a form of a page, which must be accepted. */
export async function sendForm(
  { api }: Pick<Server, "api">,
  person: LoggedIn,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const csrf = person.cookies.get("muster_csrf") ?? "";
  const response = await fetch(api + path, {
    method: "POST",
    headers: headersOf(person),
    body: new URLSearchParams({ csrf, ...fields }),
    redirect: "manual",
  });
  const text = await response.text();
  assert.equal(response.status, 303, `${path}: ${response.status} ${text}`);
}
