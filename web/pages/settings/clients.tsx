import type { ConnectedClient } from "../../../services/engines/irc/mod.ts";
import { definePage, type View } from "../../page.ts";
import { Empty, Pager } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** Clients on one page. */
const PER_PAGE = 100;

/** The connections of the IRC server. */
export const page = definePage({ opens: "admin", show, json: () => "/v1/irc/clients" });

function show(visit: Visit): View {
  const { ircServer } = visit.services;
  const body = (
    <SettingsFrame part="clients">
      {ircServer === null
        ? <Empty>The IRC server runs elsewhere, and so do its clients.</Empty>
        : <Clients visit={visit} clients={ircServer.clients()} />}
    </SettingsFrame>
  );
  return { title: "IRC clients", body };
}

function Clients({ visit, clients }: {
  readonly visit: Visit;
  readonly clients: readonly ConnectedClient[];
}) {
  const search = visit.query("q")?.toLowerCase() ?? "";
  const found = clients.filter(({ nick, account, address }) =>
    [nick ?? "", account ?? "", address].some((text) => text.toLowerCase().includes(search))
  );
  const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  return (
    <>
      <form method="get" action="/settings/clients" role="search" class="search">
        <label class="hidden-text" for="q">Search by nick, account or address</label>
        <input
          id="q"
          name="q"
          type="search"
          value={visit.query("q") ?? ""}
          placeholder="Search by nick, account or address"
        />
      </form>
      {found.length === 0
        ? <Empty>{search === "" ? "Nobody is connected." : "No client fits."}</Empty>
        : (
          <ClientTable
            clients={found.slice((page - 1) * PER_PAGE, page * PER_PAGE)}
          />
        )}
      <Pager visit={visit} page={page} pages={pages} />
    </>
  );
}

function ClientTable({ clients }: { readonly clients: readonly ConnectedClient[] }) {
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label="Table of clients">
      <table class="stacks">
        <thead>
          <tr>
            <th>Nick</th>
            <th>Account</th>
            <th>Address</th>
            <th>Transport</th>
            <th>Since</th>
            <th>Active</th>
            <th>Channels</th>
            <th>Queued</th>
          </tr>
        </thead>
        <tbody>
          {clients.map((client) => (
            <tr>
              <td>
                {client.nick ?? <span class="soft">connecting</span>}
                {client.operator && <span class="badge accent">operator</span>}
              </td>
              <td data-label="Account">{client.account}</td>
              <td data-label="Address" class="mono">{client.address}</td>
              <td data-label="Transport">
                {client.transport === "none" ? "internal" : client.transport}
              </td>
              <td data-label="Since" class="nowrap">
                <Time at={new Date(client.connectedAt).toISOString()} />
              </td>
              <td data-label="Active" class="nowrap">
                <Time at={new Date(client.lastActiveAt).toISOString()} />
              </td>
              <td data-label="Channels">{client.channels}</td>
              <td data-label="Queued" class="nowrap">{client.queuedBytes} B</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
