import { parseAddress } from "../../services/operation/config/mod.ts";
import { Forbidden, Invalid, NotFound, Unauthorized } from "../../services/kernel/errors.ts";
import { GRANTED_SCOPES, mayRedirect, type OauthClient } from "../../services/people/grants/mod.ts";
import type { Scope } from "../../services/people/identity/mod.ts";
import { definePage, type View } from "../page.ts";
import { Form, TextField } from "../parts/form.tsx";
import { ScopeChoice } from "../parts/token_form.tsx";
import type { Visit } from "../visit.ts";

/**
 * A person lets a program act in their name, or not (OAuth 2.1, section 4.1). What is wrong with the
 * request is shown here and never sent on: nobody is led elsewhere before they decide.
 */
export const page = definePage({
  opens: "session",
  show,
  actions: { allow, deny },
  newWork: ["allow"],
});

/** Longest state, in characters. */
const MAX_STATE = 2000;

/** What a client asks for. */
interface Asked {
  readonly client: OauthClient;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly resource: string;
  /** This server as the client knows it. */
  readonly issuer: string;
  readonly scopes: readonly Scope[];
  readonly state: string | null;
}

async function show(visit: Visit): Promise<View> {
  const { client, redirectUri, scopes } = await askedBy(visit);
  const { host } = new URL(client.id);
  const body = (
    <section class="narrow">
      <h1>Let {client.name} act for you?</h1>
      <p>
        <strong>{host}</strong> says that this program is its own: {client.name}. It will be sent to
        {" "}
        <strong class="mono">{placeOf(redirectUri)}</strong>. Allow it only if you have just asked
        it to connect.
      </p>
      <p class="soft">
        You are{" "}
        {visit.principal.name}. The program gets a token of yours, which you see and revoke on{" "}
        <a href="/account">your account</a>.
      </p>
      <Form visit={visit} action="allow">
        {visit.isAdmin && (
          <TextField
            visit={visit}
            name="agent"
            label="Act as the agent"
            hint="Empty: as yourself"
            maxlength={64}
          />
        )}
        <ScopeChoice visit={visit} scopes={scopes} />
        <button class="primary" type="submit">Allow</button>
      </Form>
      <Form visit={visit} action="deny">
        <button type="submit">Deny</button>
      </Form>
    </section>
  );
  return { title: `Let ${client.name} act for you`, body };
}

async function allow(visit: Visit): Promise<View> {
  const asked = await askedBy(visit);
  const chosen = visit.form.getAll("scopes");
  const scopes = asked.scopes.filter((scope) => chosen.includes(scope));
  if (scopes.length === 0) throw new Invalid('"scopes" must name at least one');
  const { client, redirectUri, challenge, resource } = asked;
  const code = await visit.services.grants.begin({
    accountId: accountFor(visit),
    clientId: client.id,
    clientName: client.name,
    redirectUri,
    challenge,
    resource,
    scopes,
  }, visit.caller);
  return leaving(asked, { code }, "allowed");
}

async function deny(visit: Visit): Promise<View> {
  return leaving(await askedBy(visit), { error: "access_denied" }, "denied");
}

/** The account in whose name the client will act: the person's own, or for admins an agent's. */
function accountFor(visit: Visit): string {
  const { id } = visit.principal;
  if (id === null) throw new Unauthorized("Log in again");
  const named = (visit.form.get("agent") ?? "").trim();
  if (named === "") return id;
  if (!visit.isAdmin) throw new Forbidden("Only admins let programs act as an agent");
  const agent = visit.services.accounts.find(named);
  if (agent === null || agent.kind !== "agent") throw new NotFound(`There is no agent "${named}"`);
  return agent.id;
}

/**
 * Sends the browser back by a page of its own: the policy of pages lets no form lead elsewhere.
 */
function leaving(
  { client, redirectUri, state, issuer }: Asked,
  answer: Readonly<Record<string, string>>,
  outcome: string,
): View {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  url.searchParams.set("iss", issuer);
  const { href } = url;
  return {
    title: `${client.name} is ${outcome}`,
    head: <meta http-equiv="refresh" content={`0;url=${href}`} />,
    body: (
      <section class="narrow">
        <h1>{client.name} is {outcome}</h1>
        <p>
          <a href={href}>Go back to it</a>, if your browser has not done so.
        </p>
      </section>
    ),
  };
}

/** @throws Invalid if the request is not one that a person can answer */
async function askedBy(visit: Visit): Promise<Asked> {
  const { oauthClients } = visit.services;
  const client = await oauthClients.find(visit.query("client_id") ?? "");
  const redirectUri = visit.query("redirect_uri") ?? "";
  if (!mayRedirect(client, redirectUri)) {
    throw new Invalid("redirect_uri is not one that the client's document names");
  }
  if (visit.query("response_type") !== "code") throw new Invalid('response_type must be "code"');
  const challenge = visit.query("code_challenge") ?? "";
  if (
    visit.query("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge)
  ) {
    throw new Invalid("code_challenge must be one of the method S256 (RFC 7636)");
  }
  const state = visit.query("state") ?? null;
  if (state !== null && state.length > MAX_STATE) throw new Invalid("state is too long");
  const { resource, issuer } = resourceOf(visit);
  const named = (visit.query("scope") ?? "").split(" ");
  const known = GRANTED_SCOPES.filter((scope) => named.includes(scope));
  const scopes = known.length === 0 ? GRANTED_SCOPES : known;
  return { client, redirectUri, challenge, resource, issuer, scopes, state };
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/**
 * The resource that the client names (RFC 8707), which must be this server's, and this server as the
 * client knows it.
 */
function resourceOf(visit: Visit): { readonly resource: string; readonly issuer: string } {
  const { origin } = visit;
  const resource = visit.query("resource") ?? `${origin}/mcp`;
  const url = URL.parse(resource);
  const own = new URL(origin);
  const { port: toolPort = 0 } = parseAddress(visit.services.config.mcp_addr) ?? {};
  const ports = [own.port, String(toolPort)];
  const isOwn = url !== null && url.protocol === own.protocol && ports.includes(url.port) &&
    (url.hostname === own.hostname || LOOPBACK.has(url.hostname) && LOOPBACK.has(own.hostname));
  if (!isOwn || !/^\/(?:mcp\/?)?$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new Invalid(`resource must be ${origin}/mcp`);
  }
  url.port = own.port;
  return { resource, issuer: url.origin };
}

function placeOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return host === "" ? protocol : host;
}
