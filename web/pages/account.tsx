import { Forbidden, NotFound, Unauthorized } from "../../services/kernel/errors.ts";
import { passwordSchema } from "../../services/people/admins/schemas.ts";
import { personSchema } from "../../services/people/agents/schemas.ts";
import {
  type ListedSession,
  MOST_OWN_TOKENS,
  type Scope,
} from "../../services/people/identity/mod.ts";
import { tokenRequestSchema } from "../../services/people/identity/schemas.ts";
import { addSigningKey, removeSigningKey } from "../../services/people/signing_keys/operations.ts";
import { MOST_KEYS, type SigningKey } from "../../services/people/signing_keys/mod.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { PersonLink } from "../parts/account_name.tsx";
import { Copyable } from "../parts/copy.tsx";
import { ButtonForm, Form, TextField } from "../parts/form.tsx";
import { Time } from "../parts/time.tsx";
import { TokenList } from "../parts/token_list.tsx";
import { endOf, ExpiryField, ScopeChoice, TokenLines } from "../parts/token_form.tsx";
import type { Visit } from "../visit.ts";

/** What people and admins change of their own account: tokens, keys, sessions and the password. */
export const page = definePage({
  opens: "session",
  show,
  actions: { create, revoke, endSession, password, addKey, removeKey },
  newWork: ["create", "addKey"],
});

/** Scopes of the tokens of accounts. */
const OWN_SCOPES: readonly Scope[] = ["read", "write", "admin"];

async function show(visit: Visit): Promise<View> {
  const { name } = visit.principal;
  const { tokens: allTokens, webSessions } = visit.services;
  const tokens = await allTokens.list({ ownerId: idOf(visit) });
  const keys = await visit.services.signingKeys.list(idOf(visit));
  const body = (
    <>
      <h1>Your account</h1>
      <p class="soft">
        You are <PersonLink name={name} />. One name and one password work here and on IRC.
      </p>
      <div class="columns">
        <section aria-labelledby="tokens">
          <h2 id="tokens">Your tokens</h2>
          <p class="soft small">
            A token is a password for <code>fossil</code> and for programs. {visit.isAdmin
              ? "With the scope admin it opens everything on this server, and with read all that " +
                "the API shows: channels, accounts and every project."
              : "It opens the projects that you reach, at most as far as your role there goes."}
            {" "}
            It ends when you revoke it.
          </p>
          <TokenList visit={visit} tokens={tokens.toReversed()} to="/account" ofOne />
          <SigningKeys visit={visit} keys={keys} />
          <Sessions visit={visit} sessions={webSessions.list(idOf(visit))} />
        </section>
        <div>
          <NewToken visit={visit} />
          <NewKey visit={visit} />
          <NewPassword visit={visit} />
        </div>
      </div>
    </>
  );
  return { title: "Your account", body };
}

/** The keys that make commits of the account verified. */
function SigningKeys({ visit, keys }: {
  readonly visit: Visit;
  readonly keys: readonly SigningKey[];
}) {
  return (
    <>
      <h2 id="keys">Your signing keys</h2>
      <p class="soft small">
        A commit that one of these SSH keys has signed is shown as verified, with your name.
      </p>
      {keys.length > 0 && (
        <ul class="list" data-keys="list">
          {keys.map(({ id, name, fingerprint }) => (
            <li class="token">
              <div>
                {name}
                <div class="soft small mono">{fingerprint}</div>
              </div>
              <ButtonForm
                visit={visit}
                action="removeKey"
                to="/account"
                values={{ id }}
                label={
                  <>
                    Remove <span class="hidden-text">the key {name}</span>
                  </>
                }
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function NewKey({ visit }: { readonly visit: Visit }) {
  return (
    <section>
      <h2>Add a signing key</h2>
      <Form visit={visit} action="addKey">
        <TextField
          visit={visit}
          name="key"
          label="Public SSH key"
          hint={`The line in ~/.ssh/id_ed25519.pub. You can have ${MOST_KEYS} keys.`}
          required
          maxlength={4000}
        />
        <button type="submit">Add the key</button>
      </Form>
    </section>
  );
}

/** Where the account is logged in to these pages. */
function Sessions({ visit, sessions }: {
  readonly visit: Visit;
  readonly sessions: readonly ListedSession[];
}) {
  return (
    <>
      <h2>Your sessions</h2>
      <p class="soft small">
        A browser that is logged in here has a session. It ends 12 hours after its last use.
      </p>
      <ul class="list" data-keys="list">
        {sessions.map((session) => <Session visit={visit} session={session} />)}
      </ul>
    </>
  );
}

function Session({ visit, session: { id, createdAt, lastUsed } }: {
  readonly visit: Visit;
  readonly session: ListedSession;
}) {
  const since = <Time at={new Date(createdAt).toISOString()} />;
  const end = (
    <>
      End <span class="hidden-text">the session that began {since}</span>
    </>
  );
  return (
    <li class="token">
      <div>
        Logged in {since}
        <div class="soft small">
          used <Time at={new Date(lastUsed).toISOString()} />
        </div>
      </div>
      {id === visit.principal.sessionId
        ? <span class="badge accent">this browser</span>
        : (
          <ButtonForm
            visit={visit}
            action="endSession"
            to="/account"
            values={{ id }}
            label={end}
          />
        )}
    </li>
  );
}

function NewToken({ visit }: { readonly visit: Visit }) {
  return (
    <section>
      <h2>Make a token</h2>
      <Form visit={visit} action="create">
        <TextField
          visit={visit}
          name="name"
          label="Name"
          hint={`Where you use it, such as “laptop”. You can have ${MOST_OWN_TOKENS} tokens.`}
          required
          maxlength={100}
        />
        <ScopeChoice visit={visit} scopes={OWN_SCOPES} />
        <ExpiryField visit={visit} />
        <button type="submit" class="primary">Make the token</button>
      </Form>
    </section>
  );
}

function NewPassword({ visit }: { readonly visit: Visit }) {
  const min = visit.isAdmin ? 8 : visit.services.ircAccounts.minPasswordLength;
  return (
    <section>
      <h2>Change your password</h2>
      <p class="soft small">
        Your other sessions end, here and on IRC. Your tokens stay.
      </p>
      <Form visit={visit} action="password">
        <TextField
          visit={visit}
          name="current"
          label="Current password"
          type="password"
          required
          autocomplete="current-password"
        />
        <TextField
          visit={visit}
          name="next"
          label="New password"
          hint={`At least ${min} characters`}
          type="password"
          required
          autocomplete="new-password"
        />
        <TextField
          visit={visit}
          name="again"
          label="New password again"
          type="password"
          required
          autocomplete="new-password"
        />
        <button type="submit">Change the password</button>
      </Form>
    </section>
  );
}

/** Makes a token of the person, and shows it once. */
async function create(visit: Visit): Promise<View> {
  const request = visit.parse(tokenRequestSchema, {
    owner: visit.principal.name,
    name: visit.entered("name").trim(),
    scopes: visit.form.getAll("scopes"),
    expires_at: endOf(visit.entered("expires")),
  });
  const issued = await visit.services.tokens.createOwn(request, visit.caller);
  const body = (
    <>
      <h1>The token</h1>
      <div class="notice">
        <p>
          <b>The token “{issued.name}” is shown only here.</b> Store it now.
        </p>
      </div>
      <Copyable text={issued.token} label="the token" />
      <TokenLines visit={visit} issued={issued} />
      <a class="button primary" href="/account">Your account</a>
    </>
  );
  return { title: "The token", body, status: 201 };
}

async function revoke(visit: Visit): Promise<Leads> {
  await visit.services.tokens.revoke(visit.entered("id"), visit.caller, idOf(visit));
  return { to: "/account", notice: "The token is revoked." };
}

async function addKey(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(addSigningKey, { key: visit.entered("key") });
  return { to: "/account", notice: "The key is added." };
}

async function removeKey(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(removeSigningKey, { id: visit.entered("id") });
  return { to: "/account", notice: "The key is removed." };
}

async function endSession(visit: Visit): Promise<Leads> {
  await visit.services.webSessions.end(visit.entered("id"), visit.caller);
  return { to: "/account", notice: "The session has ended." };
}

/** Replaces the password of a person who knows the one so far; this session goes on as a new one. */
async function password(visit: Visit): Promise<Leads> {
  const { services: { accounts, admins, adminLogin, ircAccounts }, principal: { name }, context } =
    visit;
  if (adminLogin === null) throw new NotFound("The configuration turns the login off");
  const [current, next] = [visit.entered("current"), visit.entered("next")];
  if (next !== visit.entered("again")) throw new Forbidden("The two new passwords differ");
  const schema = visit.isAdmin ? passwordSchema : personSchema.pick({ password: true });
  visit.parse(schema, { password: next });
  const { address, requestId } = context.var;
  const from = { address, browser: await adminLogin.recognize(visit.browserMark) };
  adminLogin.admit(from);
  const checked = accounts.find(name);
  await adminLogin.prove({ username: name, password: current }, from).catch((error) => {
    // Another 401 would lead to the login.
    throw error instanceof Unauthorized ? new Forbidden("The current password is wrong") : error;
  });
  if (visit.isAdmin) await admins?.setPassword(name, next, visit.caller, checked);
  else await ircAccounts.setPassword(name, next, visit.caller, checked);
  const login = { username: name, password: next };
  visit.keepSession(await adminLogin.logIn(login, { ...from, requestId }));
  return { to: "/account", notice: "Your password is changed." };
}

/** The internal id of the account that is logged in. */
function idOf({ principal: { id } }: Visit): string {
  if (id === null) throw new Forbidden("Only an account has tokens");
  return id;
}
