import type { IrcBans } from "../../../services/chat/irc_server/bans/mod.ts";
import { createIrcBan, deleteIrcBan } from "../../../services/chat/irc_server/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ButtonForm, Form, Select, TextField } from "../../parts/form.tsx";
import { Empty, Pager, partOf, Search, searchOf } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** How long a ban may last, in seconds; "" for no end. */
const DURATIONS = [
  ["600", "10 minutes"],
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "a week"],
  ["2592000", "30 days"],
  ["", "until it is removed"],
] as const;

/** Bans from the IRC server. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { ban, unban },
  json: () => "/v1/irc/bans",
});

function show(visit: Visit): View {
  const { ircBans } = visit.services;
  const body = (
    <SettingsFrame part="bans">
      {ircBans === null
        ? <Empty>The IRC server runs elsewhere, and so do its bans.</Empty>
        : <Bans visit={visit} bans={ircBans} />}
    </SettingsFrame>
  );
  return { title: "Bans", body };
}

function Bans({ visit, bans }: { readonly visit: Visit; readonly bans: IrcBans }) {
  const search = searchOf(visit);
  const found = bans.list().filter(({ mask, reason }) =>
    [mask, reason].some((text) => text.toLowerCase().includes(search))
  );
  const { shown, page, pages } = partOf(visit, found);
  return (
    <div class="columns">
      <div>
        {(pages > 1 || search !== "") && <Search visit={visit} label="Search by whom or why" />}
        {shown.length === 0
          ? (
            <Empty>
              {search === ""
                ? "Nobody is banned. A ban keeps addresses, hosts or accounts off the IRC server."
                : "No ban fits."}
            </Empty>
          )
          : (
            <ul class="list" data-keys="list">
              {shown.map(({ id, mask, reason, set_by, created_at, expires_at }) => (
                <li class="token">
                  <div>
                    <code>{mask}</code> <span>{reason}</span>
                    <div class="soft small">
                      by {set_by} <Time at={created_at} />,{" "}
                      {expires_at === null ? "without an end" : (
                        <>
                          ends <Time at={expires_at} />
                        </>
                      )}
                    </div>
                  </div>
                  <ButtonForm visit={visit} action="unban" values={{ id }} label="Lift the ban" />
                </li>
              ))}
            </ul>
          )}
        <Pager visit={visit} page={page} pages={pages} />
      </div>
      <section>
        <h2>Ban</h2>
        <Form visit={visit} action="ban">
          <TextField
            visit={visit}
            name="mask"
            label="Whom"
            required
            maxlength={300}
            hint="user@host, nick!user@host, an address, a network such as 192.0.2.0/24, or account:name"
          />
          <TextField
            visit={visit}
            name="reason"
            label="Reason"
            maxlength={300}
            hint="The banned client gets it."
          />
          <Select visit={visit} name="seconds" label="For" value="86400" options={DURATIONS} />
          <button type="submit" class="danger">Ban</button>
        </Form>
      </section>
    </div>
  );
}

async function ban(visit: Visit): Promise<Leads> {
  const seconds = visit.entered("seconds");
  const { mask } = await visit.invokeOnServer(createIrcBan, {
    mask: visit.entered("mask").trim(),
    reason: visit.entered("reason"),
    duration_seconds: seconds === "" ? null : Number(seconds),
  });
  return { to: "/settings/bans", notice: `${mask} is banned.` };
}

async function unban(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(deleteIrcBan, { ban: visit.entered("id") });
  return { to: "/settings/bans", notice: "The ban is lifted." };
}
