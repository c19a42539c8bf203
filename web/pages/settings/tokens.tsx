import { type IssuedToken, SCOPES, type Token } from "../../../services/people/identity/mod.ts";
import {
  createToken,
  revokeToken,
  rotateApiToken,
} from "../../../services/people/identity/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { Form, knownNames, TextField } from "../../parts/form.tsx";
import { Pager, partOf, Search, searchOf } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { endOf, ExpiryField, ScopeChoice, TokenLines } from "../../parts/token_form.tsx";
import { TokenList } from "../../parts/token_list.tsx";
import { type Visit, withQuery } from "../../visit.ts";

/** Tokens of all accounts and projects, and the operator's API token. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { create, revoke, rotate },
  json: () => "/v1/tokens",
});

async function show(visit: Visit): Promise<View> {
  const { tokens, hosting: { projects } } = visit.services;
  const { shown, page, pages } = partOf(visit, findTokens(visit));
  const listed = await tokens.list({ ids: shown });
  const body = (
    <SettingsFrame part="tokens">
      <div class="columns">
        <div>
          <Search visit={visit} label="Search by name, owner or project" />
          <TokenList
            visit={visit}
            tokens={listed.map((token) => withSlug(token, projects)).reverse()}
          />
          <Pager visit={visit} page={page} pages={pages} />
        </div>
        <div>
          <NewToken visit={visit} />
          <section>
            <h2>The API token</h2>
            <p class="soft small">
              It opens everything, in the operator’s name. The file <code>api_token</code>{" "}
              in the data folder holds it.
            </p>
            <ConfirmForm
              visit={visit}
              action="rotate"
              label="Replace the API token …"
              button="Replace it"
            >
              <p>
                Whatever uses the old one is refused at once, and so are commands with a copy of it.
              </p>
            </ConfirmForm>
          </section>
        </div>
      </div>
    </SettingsFrame>
  );
  return { title: "Tokens", body };
}

/** The ids of the tokens that are searched for, newest first. */
function findTokens(visit: Visit): string[] {
  const { tokens, accounts, hosting: { projects } } = visit.services;
  const search = searchOf(visit);
  return tokens.idsOf(({ name, ownerId, projectId }) =>
    search === "" || [
      name,
      ownerId === null ? "" : accounts.get(ownerId)?.name ?? "",
      projectId === null ? "" : projects.get(projectId)?.project.slug ?? "",
    ].some((text) => text.toLowerCase().includes(search))
  );
}

function NewToken({ visit }: { readonly visit: Visit }) {
  return (
    <section>
      <h2>Make a token</h2>
      <Form visit={visit} action="create">
        <TextField
          visit={visit}
          name="owner"
          label="Owner"
          value={visit.query("owner") ?? ""}
          names={knownNames.accounts(visit)}
          hint="An agent, a person or an admin. Leave it empty for a project’s token."
        />
        <TextField
          visit={visit}
          name="project"
          label="Project"
          names={knownNames.projects(visit)}
          hint="In place of an owner: the token then opens this project alone."
        />
        <TextField visit={visit} name="name" label="Name" required maxlength={100} />
        <ScopeChoice visit={visit} scopes={SCOPES} />
        <ExpiryField visit={visit} />
        <button type="submit" class="primary">Make the token</button>
      </Form>
    </section>
  );
}

/** Makes a token, and shows it once. */
async function create(visit: Visit): Promise<View> {
  const issued = await visit.invokeOnServer(createToken, {
    owner: visit.entered("owner").trim() || null,
    project: visit.entered("project").trim() || null,
    name: visit.entered("name").trim(),
    scopes: visit.form.getAll("scopes"),
    expires_at: endOf(visit.entered("expires")),
  });
  return { title: "The token", body: <Issued visit={visit} issued={issued} />, status: 201 };
}

function Issued({ visit, issued }: {
  readonly visit: Visit;
  readonly issued: Pick<IssuedToken, "owner" | "name" | "token">;
}) {
  const { token } = issued;
  return (
    <SettingsFrame part="tokens">
      <div class="notice">
        <p>
          <b>The token “{issued.name}” is shown only here.</b> Store it now.
        </p>
      </div>
      <Copyable text={token} label="the token" />
      <TokenLines visit={visit} issued={issued} />
      <a class="button primary" href="/settings/tokens">All tokens</a>
    </SettingsFrame>
  );
}

async function revoke(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(revokeToken, { id: visit.entered("id") });
  const q = visit.query("q");
  return { to: withQuery("/settings/tokens", { q }), notice: "The token is revoked." };
}

/** Replaces the operator's API token, and shows the new one once. */
async function rotate(visit: Visit): Promise<View> {
  const { token } = await visit.invokeOnServer(rotateApiToken, {});
  const body = (
    <SettingsFrame part="tokens">
      <div class="notice">
        <p>
          <b>The new API token is shown only here</b>, and is in the file <code>api_token</code>.
        </p>
      </div>
      <Copyable text={token} label="the API token" />
      <a class="button primary" href="/settings/tokens">All tokens</a>
    </SettingsFrame>
  );
  return { title: "The API token", body };
}

/** A token with the slug of its project in place of the internal id. */
function withSlug(
  token: Token,
  projects: Visit["services"]["hosting"]["projects"],
): Token {
  if (token.project === null) return token;
  return Object.assign({}, token, { project: projects.get(token.project)?.project.slug ?? null });
}
