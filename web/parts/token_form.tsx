import type { IssuedToken, Scope } from "../../services/people/identity/mod.ts";
import type { Visit } from "../visit.ts";
import { Copyable } from "./copy.tsx";
import { Field } from "./form.tsx";

/** The boxes for what a token may do; `read` and `write` are chosen at first. */
export function ScopeChoice({ visit, scopes }: {
  readonly visit: Visit;
  readonly scopes: readonly Scope[];
}) {
  const chosen = visit.form.size === 0 ? ["read", "write"] : visit.form.getAll("scopes");
  return (
    <fieldset class="choices">
      <legend>Scopes</legend>
      {scopes.map((scope) => (
        <label>
          <input type="checkbox" name="scopes" value={scope} checked={chosen.includes(scope)} />
          {" "}
          {scope}
        </label>
      ))}
    </fieldset>
  );
}

/** The last day of a token; {@linkcode endOf} reads it. */
export function ExpiryField({ visit }: { readonly visit: Visit }) {
  return (
    <Field id="expires" label="Ends after" hint="Empty: no end">
      <input
        id="expires"
        name="expires"
        type="date"
        value={visit.entered("expires")}
        aria-describedby="expires-hint"
      />
    </Field>
  );
}

/** How a new token is used. */
export function TokenLines({ visit, issued: { owner, token } }: {
  readonly visit: Visit;
  readonly issued: Pick<IssuedToken, "owner" | "token">;
}) {
  const named = visit.origin.replace("://", `://${owner}:${token}@`);
  return (
    <>
      <h2>Use it</h2>
      <Copyable
        text={`curl -s -H 'Authorization: Bearer ${token}' ${visit.origin}/projects`}
        label="the line for curl"
      />
      {owner !== null && (
        <>
          <Copyable text={`git clone ${named}/projects/SLUG.git`} label="the line for git" />
          <Copyable
            text={`fossil clone --save-http-password ${named}/projects/SLUG/fossil SLUG.fossil`}
            label="the line for fossil"
          />
        </>
      )}
    </>
  );
}

/** The end of a day, in UTC; null if no day is given. What is no day stays as it is. */
export function endOf(day: string): string | null {
  if (day === "") return null;
  return /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59Z` : day;
}
