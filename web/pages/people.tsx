import {
  createAdmin,
  deleteAdmin,
  setAdminPassword,
} from "../../services/people/admins/operations.ts";
import {
  createIrcAccount,
  deleteIrcAccount,
  setIrcPassword,
} from "../../services/people/agents/irc_account_operations.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import type { Account } from "../../services/people/identity/mod.ts";
import { IRC_CLIENTS, loginLines } from "../../services/people/login_lines.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { PersonLink } from "../parts/account_name.tsx";
import { ConfirmForm, requireTypedName } from "../parts/confirm.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Field, Form } from "../parts/form.tsx";
import { Empty, Pager, partOf, Search, searchOf } from "../parts/lists.tsx";
import { Time } from "../parts/time.tsx";
import type { Visit } from "../visit.ts";

/** The accounts of people on IRC, and admins. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { add, password, remove, addAdmin, adminPassword, removeAdmin },
  json: () => "/v1/irc/accounts",
});

function show(visit: Visit): View {
  const { ircAccounts, admins } = visit.services;
  const body = (
    <>
      <h1>People</h1>
      <div class="columns">
        <div>
          <PeopleSection visit={visit} />
          <AdminsSection visit={visit} />
        </div>
        <div>
          <NewAccount
            visit={visit}
            action="add"
            title="Add a person"
            min={ircAccounts.minPasswordLength}
          />
          {admins !== null && (
            <NewAccount visit={visit} action="addAdmin" title="Add an admin" min={8} />
          )}
        </div>
      </div>
    </>
  );
  return { title: "People", body };
}

function PeopleSection({ visit }: { readonly visit: Visit }) {
  const people = visit.services.accounts.list("person");
  const search = searchOf(visit);
  const found = people.filter(({ name }) => name.toLowerCase().includes(search));
  const { shown, page, pages } = partOf(visit, found);
  return (
    <section aria-labelledby="people">
      <h2 id="people">
        Accounts <span class="badge">{people.length}</span>
      </h2>
      <p class="soft small">
        Each has one name and one password for IRC and for these pages.
      </p>
      <Search visit={visit} label="Search by name" />
      {shown.length === 0
        ? (
          <Empty>
            {search === ""
              ? "Nobody has an account yet. Add a person, who can then log in here and on IRC."
              : "No account fits."}
          </Empty>
        )
        : (
          <AccountList
            visit={visit}
            accounts={shown}
            actions={["password", "remove"]}
          />
        )}
      <Pager visit={visit} page={page} pages={pages} />
    </section>
  );
}

function AdminsSection({ visit }: { readonly visit: Visit }) {
  const { accounts, admins } = visit.services;
  const all = admins === null ? [] : accounts.list("admin");
  const search = searchOf(visit);
  const found = all.filter(({ name }) => name.toLowerCase().includes(search));
  const { shown, page, pages } = partOf(visit, found, "admins");
  return (
    <section aria-labelledby="admins">
      <h2 id="admins">
        Admins <span class="badge">{all.length}</span>
      </h2>
      {admins === null
        ? <Empty>The configuration turns admins off.</Empty>
        : shown.length === 0
        ? <Empty>No admin fits.</Empty>
        : (
          <AccountList
            visit={visit}
            accounts={shown}
            actions={["adminPassword", "removeAdmin"]}
          />
        )}
      <Pager visit={visit} page={page} pages={pages} parameter="admins" label="Pages of admins" />
    </section>
  );
}

function AccountList({ visit, accounts, actions: [change, remove] }: {
  readonly visit: Visit;
  readonly accounts: readonly Account[];
  /** The actions that change a password and that remove an account. */
  readonly actions: readonly [string, string];
}) {
  return (
    <ul class="list" data-keys="list">
      {accounts.map(({ name, createdAt }) => (
        <li class="token">
          <div>
            <b>
              <PersonLink name={name} />
            </b>
            <div class="soft small">
              added <Time at={new Date(createdAt).toISOString()} />
            </div>
          </div>
          <div class="row">
            <ConfirmForm
              visit={visit}
              action={change}
              values={{ name }}
              label="New password …"
              look=""
              button={`Change the password of ${name}`}
            >
              <p>Sessions that began with the old password end.</p>
              <PasswordField id={`${change}-${name}`} />
            </ConfirmForm>
            <ConfirmForm
              visit={visit}
              action={remove}
              values={{ name }}
              label="Remove …"
              button={`Remove ${name}`}
              name={name}
            >
              <p>The account, its tokens and its memberships end at once. What it wrote stays.</p>
            </ConfirmForm>
          </div>
        </li>
      ))}
    </ul>
  );
}

function PasswordField({ id }: { readonly id: string }) {
  return (
    <Field id={id} label="Password">
      <input id={id} name="password" type="password" required autocomplete="new-password" />
    </Field>
  );
}

function NewAccount({ visit, action, title, min }: {
  readonly visit: Visit;
  readonly action: string;
  readonly title: string;
  /** Characters. */
  readonly min: number;
}) {
  const isSent = visit.refusal !== null && visit.entered("action") === action;
  const isPassword = /password/i.test(visit.refusal ?? "");
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <Form visit={visit} action={action}>
        <Field id={`${action}-name`} label="Name" hint="An IRC nick, which nobody else has">
          <input
            id={`${action}-name`}
            name="name"
            required
            maxlength={64}
            autocomplete="off"
            value={isSent ? visit.entered("name") : ""}
            aria-describedby={`${action}-name-hint`}
            aria-invalid={isSent && !isPassword ? "true" : undefined}
          />
        </Field>
        <Field id={`${action}-new`} label="Password" hint={`At least ${min} characters`}>
          <input
            id={`${action}-new`}
            name="password"
            type="password"
            required
            minlength={min}
            autocomplete="new-password"
            aria-describedby={`${action}-new-hint`}
            aria-invalid={isSent && isPassword ? "true" : undefined}
          />
        </Field>
        <button type="submit" class="primary">{title}</button>
      </Form>
    </section>
  );
}

/** Adds a person, and shows how to log in. */
async function add(visit: Visit): Promise<View> {
  const { account, server } = await visit.invokeOnServer(createIrcAccount, {
    account: visit.entered("name").trim(),
    password: visit.entered("password"),
  }, { account: "name" });
  const { channels } = visit.services.config.bridge;
  const login = { name: account, password: null, server, channels };
  const body = (
    <>
      <h1>{account} has an account</h1>
      <p>
        {account} logs in to <a href="/login">these pages</a> and to IRC with the same password.
      </p>
      {IRC_CLIENTS.map((client) => (
        <details class="login-lines">
          <summary>{client}</summary>
          <Copyable text={loginLines(client, login)} label={`the lines for ${client}`} />
        </details>
      ))}
      <a class="button primary" href="/people">All people</a>
    </>
  );
  return { title: `${account} has an account`, body, status: 201 };
}

async function password(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  const password = visit.entered("password");
  await visit.invokeOnServer(setIrcPassword, { account: name, password });
  return { to: "/people", notice: `${name} has a new password.` };
}

async function remove(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  requireTypedName(visit, name);
  await visit.invokeOnServer(deleteIrcAccount, { account: name });
  return { to: "/people", notice: `The account ${name} is removed.` };
}

async function addAdmin(visit: Visit): Promise<Leads> {
  const username = visit.entered("name").trim();
  const password = visit.entered("password");
  await visit.invokeOnServer(createAdmin, { username, password }, { username: "name" });
  return { to: "/people", notice: `${username} is an admin.` };
}

async function adminPassword(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  const password = visit.entered("password");
  await visit.invokeOnServer(setAdminPassword, { username: name, password });
  const isOwn = name === visit.principal.name;
  return { to: isOwn ? "/login" : "/people", notice: `${name} has a new password.` };
}

async function removeAdmin(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  requireTypedName(visit, name);
  if (name === visit.principal.name) throw new Invalid("Another admin must remove you");
  await visit.invokeOnServer(deleteAdmin, { username: name });
  return { to: "/people", notice: `${name} is no longer an admin.` };
}
