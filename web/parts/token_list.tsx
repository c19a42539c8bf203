import type { Token } from "../../services/people/identity/mod.ts";
import type { Visit } from "../visit.ts";
import { ConfirmForm } from "./confirm.tsx";
import { Empty } from "./lists.tsx";
import { Time } from "./time.tsx";

/** Tokens, each with the form that revokes it. */
export function TokenList({ visit, tokens, to = "/settings/tokens", ofOne = false }: {
  readonly visit: Visit;
  /** The page that revokes them. */
  readonly to?: string;
  readonly tokens: readonly Token[];
  /** Whether all belong to the account that the page is about, so that they need not name it. */
  readonly ofOne?: boolean;
}) {
  if (tokens.length === 0) {
    return (
      <Empty>
        There are no tokens. A token lets a script, a CI job or <code>fossil</code>{" "}
        in without a password.
      </Empty>
    );
  }
  return (
    <ul class="list" data-keys="list">
      {tokens.map(({ id, name, owner, project, scopes, created_at, expires_at, last_used }) => (
        <li class="token">
          <div>
            <b>{name}</b> {owner !== null && !ofOne && <>of {owner}</>}
            {project !== null && <>for the project {project}</>}
            <div class="soft small">
              {scopes.join(", ")} · made <Time at={created_at} /> ·{" "}
              {last_used === null ? "never used" : (
                <>
                  used <Time at={last_used} />
                </>
              )} · {expires_at === null ? "no end" : (
                <>
                  ends <Time at={expires_at} />
                </>
              )}
            </div>
          </div>
          <ConfirmForm
            visit={visit}
            action="revoke"
            to={to}
            values={{ id }}
            label="Revoke …"
            button={`Revoke ${name}`}
          >
            <p>Whatever uses this token is refused from then on.</p>
          </ConfirmForm>
        </li>
      ))}
    </ul>
  );
}
