import { createToken, revokeToken } from "../../../services/people/identity/operations.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { Field, Form, TextField } from "../../parts/form.tsx";
import { Empty, Pager, partOf } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart, type Outcome } from "./part.ts";

const SCOPES = [
  ["read", "Read"],
  ["write", "Write"],
  ["status:write", "Report checks"],
  ["admin", "Administer"],
] as const;

/** Tokens that open this project alone, such as those of CI. */
export const tokens = definePart({
  words: "Tokens",
  isForServer: true,
  show,
  actions: {
    "make-token": make,
    "revoke-token": async (visit, project) => {
      const id = visit.entered("id");
      if (idsOf(visit, project).includes(id)) await visit.invokeOnServer(revokeToken, { id });
      return "The token is revoked.";
    },
  },
});

/** The ids of the project's tokens, newest first. */
function idsOf({ services }: Visit, { access: { project } }: OpenProject): string[] {
  return services.tokens.idsOf(({ projectId }) => projectId === project.id);
}

async function show(visit: Visit, project: OpenProject) {
  const { shown, page, pages } = partOf(visit, idsOf(visit, project));
  const own = (await visit.services.tokens.list({ ids: shown })).reverse();
  return (
    <>
      <h2>Tokens of the project</h2>
      <p class="soft">A token of a project belongs to nobody. It suits CI and other programs.</p>
      {own.length === 0 ? <Empty>There is no token.</Empty> : (
        <ul class="list" data-keys="list">
          {own.map(({ id, name, scopes, created_at, expires_at, last_used }) => (
            <li class="row spread">
              <span>
                <b>{name}</b> {scopes.map((scope) => <Scope key={scope} scope={scope} />)}
                <span class="meta">
                  <span>
                    made <Time at={created_at} />
                  </span>
                  {last_used === null ? <span>never used</span> : (
                    <span>
                      used <Time at={last_used} />
                    </span>
                  )}
                  {expires_at === null ? <span>no end</span> : (
                    <span>
                      ends <Time at={expires_at} />
                    </span>
                  )}
                </span>
              </span>
              <ConfirmForm
                visit={visit}
                action="revoke-token"
                values={{ id }}
                label="Revoke …"
                button={`Revoke ${name}`}
              >
                <p>Whatever uses this token is refused from then on.</p>
              </ConfirmForm>
            </li>
          ))}
        </ul>
      )}
      <Pager visit={visit} page={page} pages={pages} />
      <TokenForm visit={visit} />
    </>
  );
}

function TokenForm({ visit }: { readonly visit: Visit }) {
  const chosen = visit.form.getAll("scope");
  return (
    <>
      <h2>Make a token</h2>
      <Form visit={visit} action="make-token">
        <TextField visit={visit} name="name" label="What it is for" required maxlength={100} />
        <fieldset class="plain-set">
          <legend>What it may do</legend>
          {SCOPES.map(([value, words]) => (
            <label class="check">
              <input
                type="checkbox"
                name="scope"
                value={value}
                checked={visit.form.size === 0 ? value === "read" : chosen.includes(value)}
              />
              {words}
            </label>
          ))}
        </fieldset>
        <Field id="expires" label="Last day (optional)">
          <input id="expires" name="expires" type="date" value={visit.entered("expires")} />
        </Field>
        <button class="primary" type="submit">Make it</button>
      </Form>
    </>
  );
}

async function make(visit: Visit, { slug }: OpenProject): Promise<Outcome> {
  const day = visit.entered("expires").trim();
  const { name, token } = await visit.invokeOnServer(createToken, {
    name: visit.entered("name"),
    scopes: visit.form.getAll("scope"),
    project: slug,
    expires_at: day === "" ? null : `${day}T23:59:59Z`,
  });
  return {
    issued: (
      <div class="notice good" role="status">
        <p>The token {name} is shown only now:</p>
        <Copyable text={token} label="the token" />
      </div>
    ),
  };
}

function Scope({ scope }: { readonly scope: string }) {
  return <span class="badge">{scope}</span>;
}
