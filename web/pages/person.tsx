import { NotFound } from "../../services/kernel/errors.ts";
import type { Account } from "../../services/people/identity/mod.ts";
import { accessOf } from "../../services/work/projects/mod.ts";
import { definePage, type View } from "../page.ts";
import { Time } from "../parts/time.tsx";
import { Happenings, Work } from "../parts/work.tsx";
import type { Visit } from "../visit.ts";

/** Events that the page shows. */
const SHOWN = 50;

/** One person or admin: what they work on and did, as far as the visitor may know of it. */
export const page = definePage({ opens: "session", show });

async function show(visit: Visit): Promise<View | Response> {
  const { services: { accounts, attention }, principal } = visit;
  const asked = visit.param("name");
  const account = accounts.find(asked);
  if (account === null) throw noSuchPerson(asked);
  if (account.kind === "agent") {
    return visit.context.redirect(`/agents/${encodeURIComponent(account.name)}`, 303);
  }
  const [work, events] = await Promise.all([
    attention.workOf(account.id, principal),
    attention.happenedBy(account.id, principal, SHOWN),
  ]);
  const isActive = events.length + work.claims.length + work.workspaces.length +
      work.reviews.length > 0;
  // Admins see every account. Others see those with visible work, and members of their projects.
  if (!isActive && !visit.isAdmin && account.id !== principal.id && !isMember(visit, account)) {
    throw noSuchPerson(asked);
  }
  const titles = await attention.titlesOf(events);
  const body = (
    <>
      <div class="page-head">
        <h1>{account.name}</h1>
        <span class="badge">{account.kind}</span>
      </div>
      <div class="columns">
        <div>
          <Work work={work} />
          <Happenings events={events} titles={titles} heading="What they did" />
        </div>
        <Facts visit={visit} account={account} />
      </div>
    </>
  );
  return { title: account.name, body, live: "/live/home" };
}

/** Whether an account is a member of a project that the visitor may see. */
function isMember({ services, principal }: Visit, { id }: Account): boolean {
  return services.hosting.projects.all().some((held) =>
    held.members.has(id) && accessOf(held, principal).may("read")
  );
}

function Facts({ visit, account: { id, name, createdAt } }: {
  readonly visit: Visit;
  readonly account: Account;
}) {
  const isOwn = id === visit.principal.id;
  return (
    <dl class="facts">
      <dt>Account since</dt>
      <dd>
        <Time at={new Date(createdAt).toISOString()} />
      </dd>
      <dt>{isOwn ? "Settings" : "Message"}</dt>
      <dd>
        {isOwn
          ? <a href="/account">Your account</a>
          : <a href={`/messages/${encodeURIComponent(name)}`}>Write to {name}</a>}
      </dd>
    </dl>
  );
}

function noSuchPerson(name: string): NotFound {
  return new NotFound(`There is no person "${name}"`);
}
