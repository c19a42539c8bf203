import type { Examination } from "../../../services/operation/control/mod.ts";
import { examine } from "../../../services/operation/control/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ButtonForm } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** What `muster doctor` finds on the running server. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { examine: check },
  json: () => "/v1/doctor",
});

function show(visit: Visit): View {
  const { last } = visit.services.selfExamination;
  const body = (
    <SettingsFrame part="doctor">
      <p class="soft">
        It checks the configuration, permissions, keys, databases, repositories, free space, the
        clock, addresses and the certificate, and changes nothing. To read every event and every
        artifact too, which may take minutes, run <code>muster doctor</code>{" "}
        on the machine of the server.
      </p>
      <ButtonForm visit={visit} action="examine" label="Check now" />
      {last === null
        ? <Empty>Nobody has checked this server since its start.</Empty>
        : <Report report={last} />}
    </SettingsFrame>
  );
  return { title: "Doctor", body };
}

function Report({ report: { at, healthy, findings, more } }: { readonly report: Examination }) {
  return (
    <section>
      <h2>{healthy ? "Everything is in order" : "Something needs you"}</h2>
      <p class="soft">
        Checked <Time at={new Date(at).toISOString()} />
      </p>
      {findings.length > 0 && <Findings findings={findings} />}
      {more > 0 && <p>{more} more findings are left out.</p>}
    </section>
  );
}

function Findings({ findings }: Pick<Examination, "findings">) {
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label="Table of findings">
      <table class="stacks">
        <thead>
          <tr>
            <th>Level</th>
            <th>Check</th>
            <th>What is wrong</th>
            <th>How to fix it</th>
          </tr>
        </thead>
        <tbody>
          {findings.map(({ level, check, message, fix }) => (
            <tr>
              <td>
                <span class={level === "error" ? "badge bad" : "badge"}>{level}</span>
              </td>
              <td>{check}</td>
              <td>{message}</td>
              <td data-label="Fix">{fix}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

async function check(visit: Visit): Promise<Leads> {
  const { healthy } = await visit.invokeOnServer(examine, {});
  const notice = healthy ? "Everything is in order." : "The check found something.";
  return { to: "/settings/doctor", notice };
}
